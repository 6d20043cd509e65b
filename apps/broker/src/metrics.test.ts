import { describe, expect, it } from "vitest";
import { createMetrics } from "./metrics.ts";

const CANARY = "canary-9f2c";

async function linesOf(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  return (await metrics.render()).body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

describe("createMetrics", () => {
  it("bar#OB-1 counts refusals, vendor calls, refresh replays and failures of the keyset", async () => {
    const metrics = createMetrics({ vendors: ["github"] });
    metrics.countRefusal("callback", "state_replayed");
    metrics.countVendorCall("github", "refresh", "ok");
    metrics.countRefreshReplay();
    metrics.countRefreshReplay();
    metrics.countKeysetFailure();
    const lines = await linesOf(metrics);
    expect(lines).toContain('broker_refusals_total{leg="callback",reason="state_replayed"} 1');
    expect(lines).toContain('broker_vendor_calls_total{vendor="github",operation="refresh",outcome="ok"} 1');
    expect(lines).toContain("broker_refresh_replays_total 2");
    expect(lines).toContain("broker_keyset_failures_total 1");
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
});
