import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../caller.ts";
import { type OpenIdBench, openOpenIdBench } from "../testing/hosted-bench.ts";
import { linkKey } from "./vendor-links/link.ts";

const LIFETIME_SECONDS = 300;
let bench: OpenIdBench;
beforeEach(async () => {
  bench = await openOpenIdBench({ provider: { accessTokenLifetimeSeconds: LIFETIME_SECONDS } });
});
afterEach(() => bench.close());

const refreshes = (): number =>
  bench.provider.requests().filter(({ path, body }) => path === "/token" && body["grant_type"] === "refresh_token")
    .length;
const refuseRefresh = (): void =>
  bench.provider.faults.next("/token", {
    kind: "answer",
    status: 400,
    body: '{"error":"invalid_grant"}',
    headers: JSON_TYPE,
  });
const JSON_TYPE = { "content-type": "application/json" };
const vendorTokenOf = async (caller: Caller | undefined): Promise<string | undefined> =>
  (await caller?.vendorToken())?.accessToken.reveal();
const worksAtVendor = async (token: string | undefined): Promise<boolean> =>
  (await fetch(`${bench.provider.issuer}/me`, { headers: { authorization: `Bearer ${token}` } })).ok;

describe("the gate of hosted mode", () => {
  it("bar#RS-2 knows access tokens of ours, and no other token", async () => {
    const { body } = await bench.connect();
    const stored = await bench.tokens.get(linkKey("user", bench));
    const { accessToken, refreshToken, idToken } = stored?.tokens ?? {};
    const others = [accessToken?.reveal(), refreshToken?.reveal(), idToken?.reveal(), body["refresh_token"], "x", ""];
    for (const token of others) expect(await bench.gate.identify(token ?? "")).toBeUndefined();
    expect(await bench.gate.identify(body["access_token"] ?? "")).toMatchObject({ user: "user", clientId: "platform" });
  });

  it("bar#UI-1 says which ID token came with the vendor token (#11)", async () => {
    const { body } = await bench.connect();
    const token = await (await bench.gate.identify(body["access_token"] ?? ""))?.vendorToken();
    const stored = await bench.tokens.get(linkKey("user", bench));
    expect(token?.idToken?.reveal()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(token?.idToken?.reveal()).toBe(stored?.tokens.idToken?.reveal());
  });

  it("renews a vendor token that is near its end, once for 100 calls at the same time", async () => {
    const { body } = await bench.connect();
    const token = body["access_token"] ?? "";
    const first = await vendorTokenOf(await bench.gate.identify(token));
    bench.clock.advance(LIFETIME_SECONDS + 1);
    const calls = Array.from({ length: 100 }, async () => vendorTokenOf(await bench.gate.identify(token)));
    const used = new Set(await Promise.all(calls));
    expect(used.size).toBe(1);
    expect(used).not.toContain(first);
    expect(await worksAtVendor([...used][0])).toBe(true);
    expect(refreshes()).toBe(1);
  });

  it("gives a call that comes late a token that is good then", async () => {
    const caller = await bench.gate.identify((await bench.connect()).body["access_token"] ?? "");
    const early = await vendorTokenOf(caller);
    bench.clock.advance(LIFETIME_SECONDS + 1);
    expect(await vendorTokenOf(caller)).not.toBe(early);
  });

  it("gives another token for one the vendor refused, and none where the grant is dead: then the session waits", async () => {
    const { body } = await bench.connect();
    const token = body["access_token"] ?? "";
    const caller = await bench.gate.identify(token);
    const first = await caller?.vendorToken();
    const second = first === undefined ? undefined : await caller?.refused(first);
    expect(second?.version).toBe((first?.version ?? 0) + 1);
    expect(await worksAtVendor(second?.accessToken.reveal())).toBe(true);
    // The same refusal, told again by a call that was under way, costs no other refresh.
    if (first !== undefined) expect((await caller?.refused(first))?.version).toBe(second?.version);
    expect(refreshes()).toBe(1);

    refuseRefresh();
    expect(second === undefined ? undefined : await caller?.refused(second)).toBeUndefined();
    expect(await bench.gate.identify(token)).toBeUndefined();
  });

  it("ends at a grant the vendor ended: 401 here, invalid_grant at /token, and no loop; the next authorization mends both", async () => {
    const { body } = await bench.connect();
    const token = body["access_token"] ?? "";
    bench.clock.advance(LIFETIME_SECONDS + 1);
    refuseRefresh();
    expect(await bench.gate.identify(token)).toBeUndefined();
    expect(await bench.gate.identify(token)).toBeUndefined();
    expect(refreshes()).toBe(1);
    const refused = await bench.refresh(body["refresh_token"] ?? "");
    expect([refused.status, refused.body["error"], refused.body["reason"]]).toEqual([
      400,
      "invalid_grant",
      "reauthorization_required",
    ]);
    await bench.connect();
    expect(await bench.gate.identify(token)).toMatchObject({ user: "user" });
    expect((await bench.refresh(body["refresh_token"] ?? "")).status).toBe(200);
  });

  it("says that it cannot say while vendor or store are down, and the session lives", async () => {
    const { body } = await bench.connect();
    const token = body["access_token"] ?? "";
    const outage = { code: "temporarily_unavailable", status: 503 };
    bench.down.add("tokens");
    await expect(bench.gate.identify(token)).rejects.toMatchObject(outage);
    expect((await bench.refresh(body["refresh_token"] ?? "")).status).toBe(503);
    bench.down.clear();
    bench.down.add("records");
    await expect(bench.gate.identify(token)).rejects.toMatchObject(outage);
    bench.down.clear();
    bench.clock.advance(LIFETIME_SECONDS + 1);
    bench.provider.faults.next("/token", { kind: "drop" });
    await expect(bench.gate.identify(token)).rejects.toMatchObject(outage);
    bench.provider.faults.next("/token", {
      kind: "answer",
      status: 401,
      body: '{"error":"invalid_client"}',
      headers: JSON_TYPE,
    });
    await expect(bench.gate.identify(token)).rejects.toMatchObject({
      ...outage,
      extras: { reason: "vendor_credentials_rejected" },
    });
    expect(await bench.gate.identify(token)).toMatchObject({ user: "user" });
    expect((await bench.refresh(body["refresh_token"] ?? "")).status).toBe(200);
  });
});
