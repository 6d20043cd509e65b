import { PerformanceObserver } from "node:perf_hooks";
import { expect, it, vi } from "vitest";
import { createServiceMetrics, knownLabel, outcomeLabel } from "./index.ts";

const linesOf = async (metrics: ReturnType<typeof createServiceMetrics>): Promise<string[]> =>
  (await metrics.render()).body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

it("bar#OB-1 names what a service adds with its prefix, and keeps instances apart", async () => {
  const [one, other] = ["one", "other"].map((prefix) => createServiceMetrics({ prefix }));
  if (one === undefined || other === undefined) throw new Error("no metrics");
  one.counter("answers_total", "Answers", { outcome: outcomeLabel() })({ outcome: "ok" });
  one.timer("store_seconds", "The store", { operation: knownLabel(["get"]) })({ operation: "get" }, 0.01);
  expect(await linesOf(one)).toEqual(
    expect.arrayContaining([
      'one_answers_total{outcome="ok"} 1',
      'one_store_seconds_bucket{le="0.025",operation="get"} 1',
      'one_store_seconds_count{operation="get"} 1',
    ]),
  );
  expect((await linesOf(other)).join("\n")).not.toContain("one_");
});

it("bar#OB-2 a label has few values: others are `other`", async () => {
  const metrics = createServiceMetrics({ prefix: "mcp", vendors: ["github"] });
  const count = metrics.counter("calls_total", "Calls", { vendor: knownLabel(["github"]), outcome: outcomeLabel() });
  for (let index = 0; index < 1_000; index += 1) count({ vendor: `of user ${index}`, outcome: `outcome_${index}` });
  count({ vendor: "github", outcome: "user@example.com" });
  const lines = await linesOf(metrics);
  expect(lines.filter((line) => line.startsWith("mcp_")).length).toBeLessThan(140);
  expect(lines).toContain('mcp_calls_total{vendor="github",outcome="other"} 1');
  expect(lines.join("\n")).not.toMatch(/of user|@/);
});

it("measures the process once, however many apps it runs", async () => {
  const observe = vi.spyOn(PerformanceObserver.prototype, "observe");
  const apps = ["one", "other", "third"].map((prefix) => createServiceMetrics({ prefix }));
  expect(observe.mock.calls.length).toBeLessThanOrEqual(1);
  for (const app of apps) {
    const lines = await linesOf(app);
    expect(lines.filter((line) => line.startsWith("process_cpu_seconds_total "))).toHaveLength(1);
  }
  observe.mockRestore();
});
