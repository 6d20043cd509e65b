import { describe, expect, it } from "vitest";
import { createMetrics } from "./metrics.ts";

const CANARY = "canary-9f2c";

async function linesOf(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  return (await metrics.render()).body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

describe("createMetrics", () => {
  it("counts requests by route pattern, method and status, and times them by route", async () => {
    const metrics = createMetrics({});
    metrics.countRequest("/v1/custom/:context/callback", "GET", 303, 0.004);
    metrics.countRequest("/v1/custom/:context/callback", "GET", 303, 0.2);
    metrics.countRequest("/v1/token", "POST", 400, 20);
    const lines = await linesOf(metrics);
    expect(lines).toContain('http_requests_total{route="/v1/custom/:context/callback",method="GET",status="303"} 2');
    expect(lines).toContain('http_requests_total{route="/v1/token",method="POST",status="400"} 1');
    expect(lines).toContain('http_request_duration_seconds_bucket{le="0.005",route="/v1/custom/:context/callback"} 1');
    expect(lines).toContain('http_request_duration_seconds_count{route="/v1/custom/:context/callback"} 2');
    expect(lines).toContain('http_request_duration_seconds_bucket{le="10",route="/v1/token"} 0');
  });

  it("bar#OB-1 counts refusals, vendor calls and refresh replays", async () => {
    const metrics = createMetrics({ vendors: ["github"] });
    metrics.countRefusal("callback", "state_replayed");
    metrics.countVendorCall("github", "refresh", "ok");
    metrics.countRefreshReplay();
    metrics.countRefreshReplay();
    const lines = await linesOf(metrics);
    expect(lines).toContain('broker_refusals_total{leg="callback",reason="state_replayed"} 1');
    expect(lines).toContain('broker_vendor_calls_total{vendor="github",operation="refresh",outcome="ok"} 1');
    expect(lines).toContain("broker_refresh_replays_total 2");
  });

  it("bar#OB-2 makes no label of what callers send", async () => {
    const metrics = createMetrics({ vendors: ["github"] });
    metrics.countRequest(`/v1/callback?code=${CANARY}`, CANARY, 400, 0.001);
    metrics.countRefusal(CANARY, `wrong ${CANARY}`);
    metrics.countVendorCall(CANARY, "redeem", `said "${CANARY}"`);
    const lines = await linesOf(metrics);
    expect(lines.join("\n")).not.toContain(CANARY);
    expect(lines).toContain('http_requests_total{route="other",method="other",status="400"} 1');
    expect(lines).toContain('broker_refusals_total{leg="other",reason="other"} 1');
    expect(lines).toContain('broker_vendor_calls_total{vendor="other",operation="redeem",outcome="other"} 1');
  });

  it("keeps the number of series bounded even when a label is not", async () => {
    const metrics = createMetrics({});
    const letters = (index: number): string =>
      index.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz".charAt(Number(digit)));
    for (let index = 0; index < 5_000; index += 1) {
      metrics.countRequest(`/v1/${index}`, "GET", 200, 0.001);
      metrics.countRefusal("par", `reason_${letters(index)}`);
    }
    const lines = await linesOf(metrics);
    expect(lines.filter((line) => line.startsWith("http_requests_total")).length).toBeLessThanOrEqual(65);
    expect(lines.filter((line) => line.startsWith("broker_refusals_total")).length).toBeLessThanOrEqual(129);
  });

  it("describes the process unless that is turned off, and is one registry per instance", async () => {
    const first = createMetrics();
    const second = createMetrics();
    first.countRefreshReplay();
    expect((await first.render()).body).toContain("process_cpu_seconds_total");
    expect(await linesOf(second)).toContain("broker_refresh_replays_total 0");
    expect((await first.render()).contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });
});
