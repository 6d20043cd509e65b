/** Access tokens that are exchanged for long-lived ones, at a vendor without refresh tokens. */
import { inspect } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { systemTimer } from "../../mechanics/system-timer.ts";
import { withoutTokenRecipients } from "../../registry/moved-vendor.ts";
import type { Vendor, VendorTokens } from "../../registry/vendor.ts";
import { type Answer, CLIENT_ID, CLIENT_SECRET } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import { createVendorClient } from "../index.ts";
import { keptOf } from "../kept.ts";

const lab = labOfEachTest({ timeoutMs: 1_000 });
beforeEach(() => {
  lab.vendor.answers.set("/token", { body: SHORT });
  lab.vendor.answers.set("/long", { body: { access_token: "long", token_type: "bearer", expires_in: 5_184_000 } });
  lab.vendor.answers.set("/renew", { body: { access_token: "longer", token_type: "bearer", expires_in: 5_184_000 } });
});

const SHORT = { access_token: "short", token_type: "bearer", expires_in: 3600, scope: "read", user_id: 17 };
const EXCHANGE = { grant_type: "v_exchange_token", client_secret: "{client_secret}", access_token: "{token}" };
const RENEWAL = { grant_type: "v_refresh_token", access_token: "{token}" };

function entry(changes: Partial<Vendor> = {}): Partial<Vendor> {
  const { issuer } = lab.vendor;
  return {
    issuesIdTokens: false,
    tokenEndpointAuthMethod: "client_secret_post",
    refreshEndpoint: `${issuer}/renew`,
    longLivedToken: { endpoint: `${issuer}/long`, exchange: EXCHANGE, renewal: RENEWAL },
    ...changes,
  };
}

const redeem = (changes: Partial<Vendor> = {}): Promise<VendorTokens> =>
  lab.redeem({ entry: entry(changes), request: { scope: ["read"] } });
const renew = (refreshToken: string, changes: Partial<Vendor> = {}): Promise<VendorTokens> =>
  lab.refresh({ entry: entry(changes), request: { refreshToken } });

/** What was asked since the discovery. */
const asked = (): string[] =>
  lab.vendor.asked().flatMap((path) => (path.includes("well-known") ? [] : (path.split("?")[0] ?? "")));
const lastQuery = (): unknown => Object.fromEntries(new URLSearchParams(lab.vendor.asked().at(-1)?.split("?")[1]));

describe("a code whose token is exchanged for a long-lived one", () => {
  it("gives the long-lived token, as what refreshes it too, and what the first answer said", async () => {
    expect(await redeem()).toEqual({
      accessToken: "long",
      tokenType: "Bearer",
      expiresInSeconds: 5_184_000,
      refreshToken: "long",
      refreshExpiresInSeconds: 5_184_000,
      scope: ["read"],
      vendorData: { user_id: 17 },
    });
    expect(lab.vendor.received.at(-1)).toMatchObject({
      method: "GET",
      path: expect.stringMatching(/^\/long\?/),
      body: "",
    });
    expect(lastQuery()).toEqual({
      grant_type: "v_exchange_token",
      client_secret: CLIENT_SECRET,
      access_token: "short",
    });
  });

  it("has our client id where the vendor asks for it, and a token that looks like a name stays a token", async () => {
    lab.vendor.answers.set("/token", { body: { ...SHORT, access_token: "{client_secret}" } });
    const exchange = { grant_type: "v_exchange_token", client_id: "{client_id}", v_exchange_token: "{token}" };
    await redeem({ longLivedToken: { endpoint: `${lab.vendor.issuer}/long`, exchange } });
    expect(lastQuery()).toEqual({
      grant_type: "v_exchange_token",
      client_id: CLIENT_ID,
      v_exchange_token: "{client_secret}",
    });
  });

  it("says no lifetime that is not the long-lived token's", async () => {
    lab.vendor.answers.set("/long", { body: { access_token: "long" } });
    const tokens = await redeem();
    expect(tokens).not.toHaveProperty("expiresInSeconds");
    expect(tokens).not.toHaveProperty("refreshExpiresInSeconds");
  });

  it.each<[string, Answer, string]>([
    ["is refused", { status: 400, body: { error: { code: 190 } } }, "vendor_response_invalid"],
    ["is not available", { status: 503 }, "temporarily_unavailable"],
    ["is cut", (response) => void response.destroy(), "temporarily_unavailable"],
    ["is redirected", { status: 302, headers: { location: "/token" } }, "vendor_response_invalid"],
    ["answers a page", { body: "<html>", headers: { "content-type": "text/html" } }, "vendor_response_invalid"],
    ["answers no token", { body: { expires_in: 5 } }, "vendor_response_invalid"],
  ])(
    "bar#VR-5 loses nothing if the exchange %s: the first token is passed on, and it is said",
    async (_, answer, code) => {
      lab.vendor.answers.set("/long", answer);
      expect(await redeem()).toEqual({
        accessToken: "short",
        tokenType: "Bearer",
        expiresInSeconds: 3600,
        refreshToken: "short",
        refreshExpiresInSeconds: 3600,
        scope: ["read"],
        vendorData: { user_id: 17, long_lived_token_error: code },
      });
      // Neither revoked nor tried again, and no redirect was followed.
      expect(asked()).toEqual(["/token", "/long"]);
    },
  );

  it("says to the operator that an exchange failed", async () => {
    lab.vendor.answers.set("/long", { status: 400, body: { error: { code: 190 } } });
    const seen: unknown[] = [];
    const client = createVendorClient({
      fetch: (input, init) => fetch(input, init),
      timer: systemTimer,
      now: lab.clock,
      allowLoopback: true,
      onLesserAnswer: (event, { id }) => void seen.push([event, id]),
    });
    await client.redeemCode(await lab.resolve(entry()), lab.vendor.credentials, { ...lab.request, scope: ["read"] });
    expect(seen).toEqual([["vendor_token_short_lived", "faulty"]]);
  });

  it("is not exchanged if the code was refused", async () => {
    lab.vendor.answers.set("/token", { status: 400, body: { error: "invalid_grant" } });
    await expect(redeem()).rejects.toMatchObject({ code: "invalid_grant" });
    expect(asked()).toEqual(["/token"]);
  });
});

describe("the renewal of a long-lived token", () => {
  it("is by the token itself, without the secret", async () => {
    expect(await renew("long")).toMatchObject({
      accessToken: "longer",
      refreshToken: "longer",
      refreshExpiresInSeconds: 5_184_000,
    });
    expect([asked(), lastQuery()]).toEqual([["/renew"], { grant_type: "v_refresh_token", access_token: "long" }]);
  });

  it("is the exchange again at a vendor that has no other", async () => {
    const endpoint = `${lab.vendor.issuer}/token`;
    const { refreshEndpoint: _, ...rest } = entry({ longLivedToken: { endpoint, exchange: EXCHANGE } });
    await lab.refresh({ entry: rest, request: { refreshToken: "long" } });
    expect([asked(), lastQuery()]).toMatchObject([["/token"], { grant_type: "v_exchange_token" }]);
  });

  it("is the first exchange for a token whose exchange had failed", async () => {
    lab.vendor.answers.set("/renew", { status: 400, body: { error: { code: 190 } } });
    expect(await renew("short")).toMatchObject({ accessToken: "long", refreshToken: "long" });
    expect(lastQuery()).toMatchObject({ grant_type: "v_exchange_token", access_token: "short" });
  });

  it("bar#RF-9 says what the renewal was refused with, and ends nothing", async () => {
    const tokenErrors = { "190": "invalid_grant", "100": "vendor_response_invalid" } as const;
    lab.vendor.answers.set("/renew", { status: 400, body: { error: { code: 190 } } });
    lab.vendor.answers.set("/long", { status: 400, body: { error: { code: 100 } } });
    const dead = { code: "invalid_grant", extras: expect.not.objectContaining({ retry: "restart" }) };
    await expect(renew("dead", { tokenErrors })).rejects.toMatchObject(dead);
    expect(asked()).toEqual(["/renew", "/long"]);
  });

  it("is not asked for elsewhere while the vendor is not available", async () => {
    lab.vendor.answers.set("/renew", { status: 503 });
    await expect(renew("long")).rejects.toMatchObject({ code: "temporarily_unavailable" });
    expect(asked()).toEqual(["/renew"]);
  });
});

describe("the secrets in its addresses", () => {
  it.each<[string, Answer]>([
    ["no answer", (response) => void response.destroy()],
    ["a redirect", { status: 302, headers: { location: "https://elsewhere.example" } }],
    ["a refusal", { status: 400, body: { error: "invalid_request" } }],
  ])("bar#EG-9 are in no error: %s", async (_, answer) => {
    lab.vendor.answers.set("/renew", answer);
    const error: unknown = await renew("a-long-lived-token", {
      longLivedToken: {
        endpoint: `${lab.vendor.issuer}/renew`,
        exchange: EXCHANGE,
      },
    }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    const shown = inspect(error, { depth: 10, showHidden: true });
    for (const secret of ["a-long-lived-token", CLIENT_SECRET, "v_exchange_token"]) expect(shown).not.toContain(secret);
  });

  it("bar#BY-4 go to no other party's token endpoint, and to no host that the grant does not have", async () => {
    const resolved = await lab.resolve(entry());
    expect(withoutTokenRecipients(resolved)).not.toHaveProperty("longLivedToken");
    const { hosts } = keptOf({
      ...resolved,
      longLivedToken: { endpoint: "https://long.example/x", exchange: EXCHANGE },
    });
    expect(hosts).toContain("long.example");
  });
});
