import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Caller } from "../mode.ts";
import { openOpenIdFixture, refuseTokens } from "../testing/hosted-fixture.ts";
import { linkKey } from "./links/link.ts";

const LIFETIME_SECONDS = 300;
const fixture = ofEachTest(() => openOpenIdFixture({ provider: { accessTokenLifetimeSeconds: LIFETIME_SECONDS } }));

const refreshes = (): number =>
  fixture.provider.requests().filter(({ path, body }) => path === "/token" && body["grant_type"] === "refresh_token")
    .length;
const vendorTokenOf = async (caller: Caller | undefined): Promise<string | undefined> =>
  (await caller?.vendorToken())?.accessToken.reveal();
const worksAtVendor = async (token: string | undefined): Promise<boolean> =>
  (await fetch(`${fixture.provider.issuer}/me`, { headers: { authorization: `Bearer ${token}` } })).ok;

describe("the bearer check of hosted mode", () => {
  it("bar#RS-2 accepts our access tokens, and no other token", async () => {
    const { body } = await fixture.connect();
    const stored = await fixture.tokens.get(linkKey("user", fixture));
    const { accessToken, refreshToken, idToken } = stored?.tokens ?? {};
    const others = [accessToken?.reveal(), refreshToken?.reveal(), idToken?.reveal(), body["refresh_token"], "x", ""];
    for (const token of others) expect(await fixture.authenticate(token ?? "")).toBeUndefined();
    expect(await fixture.authenticate(body["access_token"] ?? "")).toMatchObject({
      user: "user",
      clientId: "platform",
    });
  });

  it("bar#UI-1 provides the ID token that was issued with the vendor token (#11)", async () => {
    const { body } = await fixture.connect();
    const token = await (await fixture.authenticate(body["access_token"] ?? ""))?.vendorToken();
    const stored = await fixture.tokens.get(linkKey("user", fixture));
    expect(token?.idToken?.reveal()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(token?.idToken?.reveal()).toBe(stored?.tokens.idToken?.reveal());
  });

  it("renews a vendor token that is near its end, once for 100 calls at the same time", async () => {
    const { body } = await fixture.connect();
    const token = body["access_token"] ?? "";
    const first = await vendorTokenOf(await fixture.authenticate(token));
    fixture.clock.advance(LIFETIME_SECONDS + 1);
    const calls = Array.from({ length: 100 }, async () => vendorTokenOf(await fixture.authenticate(token)));
    const used = new Set(await Promise.all(calls));
    expect(used.size).toBe(1);
    expect(used).not.toContain(first);
    expect(await worksAtVendor([...used][0])).toBe(true);
    expect(refreshes()).toBe(1);
  });

  it("gives a late call a token that is valid then", async () => {
    const caller = await fixture.authenticate((await fixture.connect()).body["access_token"] ?? "");
    const early = await vendorTokenOf(caller);
    fixture.clock.advance(LIFETIME_SECONDS + 1);
    expect(await vendorTokenOf(caller)).not.toBe(early);
  });

  it("gives another token after a refusal, none if the grant is dead: the session stays", async () => {
    const { body } = await fixture.connect();
    const token = body["access_token"] ?? "";
    const caller = await fixture.authenticate(token);
    const first = await caller?.vendorToken();
    const second = first === undefined ? undefined : await caller?.refused(first);
    expect(second?.version).toBe((first?.version ?? 0) + 1);
    expect(await worksAtVendor(second?.accessToken.reveal())).toBe(true);
    // The same refusal, reported again by a call that was under way, causes no second refresh.
    if (first !== undefined) expect((await caller?.refused(first))?.version).toBe(second?.version);
    expect(refreshes()).toBe(1);

    refuseTokens(fixture.provider);
    expect(second === undefined ? undefined : await caller?.refused(second)).toBeUndefined();
    expect(await fixture.authenticate(token)).toBeUndefined();
  });

  it("ends with the vendor's grant: 401 here, invalid_grant at /token, and no loop", async () => {
    const { body } = await fixture.connect();
    const token = body["access_token"] ?? "";
    fixture.clock.advance(LIFETIME_SECONDS + 1);
    refuseTokens(fixture.provider);
    expect(await fixture.authenticate(token)).toBeUndefined();
    expect(await fixture.authenticate(token)).toBeUndefined();
    expect(refreshes()).toBe(1);
    const refused = await fixture.refresh(body["refresh_token"]);
    expect([refused.status, refused.body["error"], refused.body["reason"]]).toEqual([
      400,
      "invalid_grant",
      "reauthorization_required",
    ]);
    await fixture.connect();
    expect(await fixture.authenticate(token)).toMatchObject({ user: "user" });
    expect((await fixture.refresh(body["refresh_token"])).status).toBe(200);
  });

  it("answers 503 while vendor or store are down, and the session stays", async () => {
    const { body } = await fixture.connect();
    const token = body["access_token"] ?? "";
    const outage = { code: "temporarily_unavailable", status: 503 };
    fixture.down.add("tokens");
    await expect(fixture.authenticate(token)).rejects.toMatchObject(outage);
    expect((await fixture.refresh(body["refresh_token"])).status).toBe(503);
    fixture.down.clear();
    fixture.down.add("records");
    await expect(fixture.authenticate(token)).rejects.toMatchObject(outage);
    fixture.down.clear();
    fixture.clock.advance(LIFETIME_SECONDS + 1);
    fixture.provider.faults.next("/token", { kind: "drop" });
    await expect(fixture.authenticate(token)).rejects.toMatchObject(outage);
    for (const [error, reason] of [
      ["invalid_client", "vendor_credentials_rejected"],
      ["invalid_scope", "invalid_scope"],
    ]) {
      refuseTokens(fixture.provider, error);
      // oxlint-disable-next-line no-await-in-loop
      await expect(fixture.authenticate(token)).rejects.toMatchObject({ ...outage, extras: { reason } });
    }
    expect(await fixture.authenticate(token)).toMatchObject({ user: "user" });
    expect((await fixture.refresh(body["refresh_token"])).status).toBe(200);
  });
});
