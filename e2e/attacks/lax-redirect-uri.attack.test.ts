/**
 * Attacker: a client of the broker that may name its own vendor, and an accomplice with an account
 * at an honest vendor that compares redirect URIs loosely and sends no `iss`. The attacker's vendor
 * bounces the browser there, as our public client, with a redirect URI that the honest vendor
 * accepts as ours and that the broker would accept as an answer in the attacker's flow. Goal: the
 * honest vendor's code at the attacker's token endpoint. Defence: a vendor that a caller names has
 * its own callback path, on which alone its answers count and which lies beneath no other path
 * (callbackPath).
 */
import type { FakeVendorOptions } from "@oauth-broker/simulators";
import * as callbackPathModule from "@oauth-broker/broker/src/vendor-choice/callback-path.ts";
import { describe, expect, it } from "vitest";
import { BASE_URL, CALLBACK, EVIL, HONEST, ownerOfCode } from "./support/names.ts";
import { createBouncingVendor } from "./support/bouncing-vendor.ts";
import { expectRefusalPage, withoutPathOfFlow, without } from "./support/outcomes.ts";
import { createBackend, type Form, openScene } from "./support/actors.ts";
import { createFixture } from "./support/fixture.ts";

/** The attacker's own vendor accepts any registration. */
const ATTACKERS = {
  vendor: undefined,
  vendor_client_id: "attackers",
  vendor_client_secret: "attackers-secret-0123456789",
};

interface Attack {
  /** How the honest vendor compares redirect URIs. */
  readonly isRegistered: NonNullable<FakeVendorOptions["isRegistered"]>;
  /**
   * The redirect URI that the evil vendor forwards.
   * @param own the one of the attacker's flow
   */
  readonly bounceTo: (own: string) => string;
  /** What the attacker pushes. */
  readonly form: Form;
}

/** @returns where the victim's browser ended, and what reached the evil token endpoint */
async function lure({ isRegistered, bounceTo, form }: Attack) {
  const evil = createBouncingVendor({ origin: EVIL, bounceTo });
  const entries = { honest: { name: "Honest", issuer: HONEST } };
  const vendor = { sendsIss: false, isRegistered };
  const { honest, foe, victim } = await openScene({ vendor, vendors: [evil], entries });
  const flow = await foe.push({ ...ATTACKERS, ...form });
  const visit = victim.visit(foe.startUrl(flow));
  const destination = await visit.catch((error: unknown) => ({
    refused: String(error),
    url: undefined,
    page: undefined,
  }));
  const code = destination.url?.searchParams.get("code") ?? "";
  if (destination.page === undefined && code !== "") await foe.redeem(code, flow.codeVerifier);
  return { honest, evil, destination, owner: ownerOfCode(evil.stolen()) };
}

describe("a vendor that takes a query appended to the registered redirect URI", () => {
  const ATTACK: Attack = {
    isRegistered: (sent, registered) => sent.split("?")[0] === registered,
    // The broker reads the attacker's issuer from it, and the attacker's vendor declares that it
    // always sends one.
    bounceTo: () => `${CALLBACK}?${new URLSearchParams({ iss: EVIL }).toString()}`,
    form: { issuer: EVIL },
  };

  it("bar#XA-1 bar#XA-4 delivers its code to a path other than the attacker's; nothing is sent", async () => {
    const { honest, evil, destination } = await lure(ATTACK);
    expect(honest.codes).toHaveLength(1);
    expectRefusalPage(destination.page, "path_mismatch", honest.codes);
    expect(evil.tokenRequests).toEqual([]);
  });

  it("bar#XA-4 twin: if any path is accepted the evil token endpoint has the victim's code", async () => {
    withoutPathOfFlow();
    expect((await lure(ATTACK)).owner).toBe("victim");
  });
});

describe("a vendor that takes every redirect URI beneath the registered one", () => {
  const ATTACK: Attack = {
    isRegistered: (sent, registered) => sent === registered || sent.startsWith(`${registered}/`),
    bounceTo: (own) => own,
    form: { authorization_endpoint: `${EVIL}/authorize`, token_endpoint: `${EVIL}/token` },
  };

  it("bar#XA-4 gives no code for the attacker's path: it lies beneath no other", async () => {
    const { honest, evil, destination } = await lure(ATTACK);
    expect(destination).toMatchObject({ refused: expect.stringContaining("redirect_uri is not registered") });
    expect([honest.codes, evil.tokenRequests]).toEqual([[], []]);
  });

  it("bar#XA-4 nor does a vendor that compares prefixes, whatever follows", async () => {
    const { honest } = await lure({ ...ATTACK, isRegistered: (sent, registered) => sent.startsWith(registered) });
    expect(honest.codes).toEqual([]);
  });

  it("bar#XA-4 twin: with a path beneath ours the victim's code reaches the evil endpoint", async () => {
    // Beneath the path of every other vendor, as in release 0.1.0.
    without(callbackPathModule, ({ CALLBACK_PATH, callbackPath }) => ({
      callbackPath: (context) => (context === undefined ? callbackPath(context) : `${CALLBACK_PATH}/${context}`),
    }));
    expect((await lure(ATTACK)).owner).toBe("victim");
  });

  it("bar#XA-4 explain shows the redirect URIs, none of which is below another", async () => {
    const fixture = await createFixture({ vendors: [], entries: { honest: { name: "Honest", issuer: HONEST } } });
    const shown = await Promise.all(
      (["platform", "other"] as const).map(async (client) => {
        const { body } = await createBackend(fixture, client).post("/v1/explain", { ...ATTACKERS, ...ATTACK.form });
        return String(body["redirect_uri"]);
      }),
    );
    for (const one of shown) expect(one).toMatch(/^https:\/\/broker\.example\/v1\/custom\/[\w-]{22}\/callback$/);
    const all = [...shown, CALLBACK, BASE_URL + "/v1/callback/"];
    for (const one of shown) expect(all.filter((other) => other !== one && one.startsWith(other))).toEqual([]);
    expect(new Set(shown).size).toBe(2);
  });
});
