import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canaryCode, type CanaryVendor, startCanaryVendor } from "./canary-vendor.ts";

let vendor: CanaryVendor;
beforeEach(async () => {
  vendor = await startCanaryVendor();
});
afterEach(() => vendor.close());

const token = async (form: Record<string, string>): Promise<{ status: number; body: Record<string, string> }> => {
  const answer = await fetch(`${vendor.url}/token`, { method: "POST", body: new URLSearchParams(form) });
  const text = await answer.text();
  return { status: answer.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, string> };
};
const accountOf = async (accessToken = ""): Promise<unknown> => {
  const answer = await fetch(`${vendor.url}/account`, { headers: { authorization: `Bearer ${accessToken}` } });
  return answer.json();
};

describe("the canary vendor", () => {
  it("names the user of an access token, and accepts a code once", async () => {
    const code = canaryCode("alice");
    const { body } = await token({ code });
    expect(body["access_token"]).toMatch(/^canary\.alice\./);
    expect(await accountOf(body["access_token"])).toEqual({ sub: "alice" });
    expect(await accountOf("canary.alice.guess")).toEqual({ error: "invalid_token" });
    expect((await token({ code })).status).toBe(400);
  });

  it("rotates refresh tokens, and ends the grant of one that comes twice", async () => {
    const first = (await token({ code: canaryCode("alice") })).body["refresh_token"] ?? "";
    const second = (await token({ refresh_token: first })).body["refresh_token"] ?? "";
    expect(second).toMatch(/^renew\.alice\./);
    expect((await token({ refresh_token: first })).status).toBe(400);
    expect((await token({ refresh_token: second })).status).toBe(400);
    expect(vendor.counts()).toMatchObject({ codes: 1, refreshes: 3, replays: 1 });
  });

  it("throttles refreshes beyond its limit, and spends nothing then", async () => {
    const limited = await startCanaryVendor({ refreshesPerSecond: 1, firstLifetimeSeconds: 60 });
    const ask = async (form: Record<string, string>) =>
      fetch(`${limited.url}/token`, { method: "POST", body: new URLSearchParams(form) });
    const first = (await (await ask({ code: canaryCode("alice") })).json()) as Record<string, string | number>;
    expect(first["expires_in"]).toBe(60);
    const form = { refresh_token: String(first["refresh_token"]) };
    const statuses: number[] = [];
    let refused: Response | undefined;
    // Of three calls at once at most one in each of two seconds is within the limit.
    for (const answer of await Promise.all([ask(form), ask({ refresh_token: "x" }), ask({ refresh_token: "y" })])) {
      statuses.push(answer.status);
      if (answer.status === 429) refused = answer;
    }
    expect(refused?.headers.get("retry-after")).toBe("1");
    expect(limited.counts()).toMatchObject({ refreshes: 3, replays: 0 });
    expect(limited.counts().throttled).toBe(statuses.filter((status) => status === 429).length);
    await limited.close();
  });

  it("answers nothing but an outage while it has one", async () => {
    const code = canaryCode("alice");
    vendor.outage(true);
    expect((await token({ code })).status).toBe(503);
    vendor.outage(false);
    expect((await token({ code })).status).toBe(200);
  });
});
