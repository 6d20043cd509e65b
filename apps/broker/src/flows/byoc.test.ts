/**
 * BYOC: the client's own credentials at a vendor travel with each call; the broker keeps them only
 * while the flow waits.
 */
import { defineVendor, type Vendor, type VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { basic, flowIdOf, ISSUER, rotatingTokens, testBroker, testClient, testVendor } from "../testing/test-broker.ts";
import { asFlow } from "./flow-record.ts";

const ELSEWHERE = {
  authorizationEndpoint: "https://login.example/authorize",
  tokenEndpoint: "https://login.example/token",
};
/** In metadata. */
const SENDS_ISS = { response_types_supported: ["code"], authorization_response_iss_parameter_supported: true };
const OWN = { vendor_client_id: "mine", vendor_client_secret: "canary-s3cret" };

async function connected(form: Record<string, string> = OWN) {
  const broker = await testBroker({
    vendorAnswers: rotatingTokens(),
    vendor: { revocationEndpoint: "https://acme.example/revoke" },
  });
  const { connection } = await broker.connect(form);
  const revoke = (more: Record<string, string>) => broker.post("/v1/revoke", { token: "at-1", ...more });
  return { ...broker, connection, revoke };
}

describe("a flow with credentials of the client's own", () => {
  it("goes to the vendor as that client, and redeems as that client", async () => {
    const { start, land, redeem, seen } = await testBroker();
    const started = await start(OWN);
    expect(started.location?.searchParams.get("client_id")).toBe("mine");
    expect(started.location?.searchParams.get("redirect_uri")).toBe(`${ISSUER}/v1/callback`);
    const { response, body } = await redeem(await land(started));
    expect({ status: response.status, vendor: body["vendor"] }).toEqual({ status: 200, vendor: "acme" });
    expect(seen.map(({ authorization }) => authorization)).toEqual([basic("mine", OWN.vendor_client_secret)]);
  });

  it("works without credentials of the broker, and without a secret as a public client", async () => {
    const entry = { ...testVendor(), credentials: [] };
    const { connect, seen } = await testBroker({ config: { vendors: new Map([["acme", entry]]) } });
    expect((await connect({ vendor_client_id: "mine" })).response.status).toBe(200);
    expect(seen.map(({ authorization, form }) => [authorization, form.get("client_id")])).toEqual([[null, "mine"]]);
  });

  it("uses its secret at an entry for public clients, and if redeemed at the callback", async () => {
    const vendor = { tokenEndpointAuthMethod: "none", redeemAt: "callback" } as const;
    const { connect, seen } = await testBroker({ vendor });
    expect((await connect(OWN)).response.status).toBe(200);
    expect(seen[0]?.authorization).toBe(basic("mine", OWN.vendor_client_secret));
  });

  describe("where clients of several owners use the broker", () => {
    const clients = [testClient("platform"), { ...testClient("other"), owner: "globex" }];
    const retired = { id: "2025", source: "shared", clientId: "Ours-2025" } as const;
    const entry = { ...testVendor(), credentials: [...testVendor().credentials, retired] };
    /** Whether a browser that follows such a request sees the owner page. */
    const isAsked = async (form: Record<string, string>, more: Record<string, VendorConfig> = {}, who = clients) => {
      const vendors = new Map(Object.entries({ acme: entry, ...more }));
      const { start } = await testBroker({ config: { vendors, clients: who } });
      return (await start(form)).location === undefined;
    };
    const sibling = (vendor: Partial<Vendor>, credentials: readonly VendorCredentials[] = []): VendorConfig => ({
      ...testVendor({ id: "sibling", name: "Sibling", ...vendor }),
      credentials,
    });
    const ours = { vendor_client_id: "ours" };
    const ofSibling = { ...ours, vendor: "sibling" };
    const { authorizationEndpoint } = ELSEWHERE;
    const discovered = defineVendor({ id: "acme", name: "Acme", issuer: "https://acme.example", enabled: false });

    it("bar#XA-9 needs no page with a client id that is the client's own", async () => {
      expect(await isAsked(OWN)).toBe(false);
      expect(await isAsked({})).toBe(true);
    });

    it.each<[string, Record<string, string>, Record<string, VendorConfig>]>([
      ["at the vendor itself", ours, {}],
      ["in other case", { vendor_client_id: "OURS" }, {}],
      ["a retired one", { vendor_client_id: "ours-2025" }, {}],
      ["with endpoints that are the vendor's own", { ...ours, token_endpoint: "https://acme.example/token" }, {}],
      ["at a sibling entry", ofSibling, { sibling: sibling({}) }],
      [
        "at a sibling entry with the same token endpoint alone",
        ofSibling,
        { sibling: sibling({ authorizationEndpoint }) },
      ],
      ["at another vendor: it may be the same server under another name", ofSibling, { sibling: sibling(ELSEWHERE) }],
      [
        "with a secret that is not the broker's",
        { ...ofSibling, vendor_client_secret: "made up" },
        { sibling: sibling(ELSEWHERE) },
      ],
      [
        "of an entry whose endpoints are discovered, wherever they are",
        ofSibling,
        { sibling: sibling(ELSEWHERE), acme: { ...entry, vendor: discovered } },
      ],
    ])("bar#XA-9 asks for the broker's own client id: %s", async (_, form, more) => {
      expect(await isAsked(form, more)).toBe(true);
      expect(await isAsked(form, more, [testClient("platform")])).toBe(false);
    });

    it("bar#XA-9 asks a client that may not use the entry the id is from", async () => {
      const limited = [
        { ...testClient("platform"), vendors: ["sibling"] },
        { ...testClient("other"), owner: "globex", vendors: ["acme"] },
      ];
      expect(await isAsked(ofSibling, { sibling: sibling({}) }, limited)).toBe(true);
      expect(await isAsked({ ...OWN, vendor: "sibling" }, { sibling: sibling({}) }, limited)).toBe(false);
    });

    describe("and the broker has a client of the same id at a second entry, elsewhere", () => {
      const limited = [
        { ...testClient("platform"), owner: "acme", vendors: ["sibling"] },
        { ...testClient("other"), owner: "globex", vendors: ["acme"] },
      ];
      const [active] = testVendor().credentials;
      const asks = (credentials: VendorCredentials) =>
        isAsked({ vendor: "sibling" }, { sibling: sibling(ELSEWHERE, [credentials]) }, limited);
      const { clientSecret: _, ...isPublic } = active ?? expect.fail("no credentials");

      it("bar#XA-9 asks where it may be one registration: the same secret, or none", async () => {
        expect(await asks({ ...isPublic, clientSecret: new Secret("vendor secret") })).toBe(true);
        expect(await asks(isPublic)).toBe(true);
      });

      it("bar#XA-9 does not ask where its secret is another", async () => {
        expect(await asks({ ...isPublic, clientSecret: new Secret("of another server") })).toBe(false);
      });
    });

    it("bar#XA-9 bar#XA-4 refuses it beside an issuer or endpoints of the client, for any owner", async () => {
      const issuer = "https://acme.example";
      const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      for (const who of [clients, [testClient("platform")]]) {
        const { push } = await testBroker({
          config: { vendors: new Map([["acme", entry]]), clients: who },
          vendorAnswers: async () => Response.json({ issuer, ...endpoints, ...SENDS_ISS }),
        });
        for (const form of [
          { vendor: "", issuer },
          { vendor: "", ...endpoints },
          { token_endpoint: "https://eu.acme.example/token" },
          { authorization_endpoint: "https://acme.example/v2" },
        ]) {
          expect((await push({ ...form, vendor_client_id: "OURS" })).body).toMatchObject({
            error: "unauthorized_client",
            reason: "override_not_allowed",
            error_description: expect.stringContaining("send a vendor_client_id of your own"),
          });
        }
      }
    });
  });

  it("bar#BY-1 seals the secret until the callback, then under our code, then drops it", async () => {
    const { start, land, redeem, deps, lines } = await testBroker();
    const flow = await start(OWN);
    const flowId = flowIdOf(flow.cookie);
    const stored = async () => (await deps.records.get({ kind: "flow", id: flowId }, { includeExpired: true }))?.data;
    const started = await stored();
    expect(started).toMatchObject({ vendorClientId: "mine", vendorSecret: expect.stringMatching(/^[\w-]+\.[\w-]+$/) });
    const code = await land(flow);
    const parked = await stored();
    expect(parked).toHaveProperty("sealed");
    expect(parked).not.toHaveProperty("vendorSecret");
    await redeem(code);
    const spent = await stored();
    expect(spent).not.toHaveProperty("sealed");
    expect(JSON.stringify([started, parked, spent]) + lines.join("")).not.toContain(OWN.vendor_client_secret);
    expect(lines.join("")).not.toContain('"mine"');
  });

  it("bar#BY-1 opens a sealed secret in its own flow only", async () => {
    const { start, callback, deps } = await testBroker({ vendor: { redeemAt: "callback" } });
    const [one, two] = [await start(OWN), await start({ ...OWN, vendor_client_secret: "another" })];
    const idOf = (cookie: string) => ({ kind: "flow", id: flowIdOf(cookie) });
    const sealedIn = async (cookie: string) => {
      const record = await deps.records.get(idOf(cookie));
      return record === undefined ? "" : (asFlow(record).vendorSecret ?? "");
    };
    const from = { stage: "started", expect: { vendorSecret: await sealedIn(one.cookie) } };
    const moved = { stage: "started", set: { vendorSecret: await sealedIn(two.cookie) } };
    expect(await deps.records.advance(idOf(one.cookie), from, moved)).toMatchObject({ outcome: "moved" });
    const { response } = await callback({ state: one.state, code: "c" }, one.cookie);
    expect(response.status).toBe(500);
  });

  it("reports whose credentials the vendor refused", async () => {
    const vendorAnswers = async () => Response.json({ error: "invalid_client" }, { status: 401 });
    const { start, callback, connect } = await testBroker({ vendorAnswers });
    const refused = { error: "vendor_credentials_rejected", credentials_source: "byoc" };
    expect((await connect(OWN)).body).toMatchObject(refused);
    const { state, cookie } = await start(OWN);
    const { location } = await callback({ state, error: "unauthorized_client" }, cookie);
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject(refused);
  });
});

describe("after a flow with credentials of the client's own", () => {
  it("bar#BY-4 refresh and revoke need the same credentials again, and accept no others", async () => {
    const { connection, refresh, revoke, seen } = await connected();
    const before = seen.length;
    for (const ask of [refresh, revoke]) {
      const theirs = { vendor_client_id: "theirs", vendor_client_secret: "x" };
      for (const wrong of [{}, { vendor_client_id: "mine" }, theirs, { vendor_client_secret: "x" }]) {
        expect((await ask({ connection, ...wrong })).body["error"]).toBe("invalid_request");
      }
    }
    expect(seen).toHaveLength(before);
    const { body } = await refresh({ connection, ...OWN });
    expect(body).toMatchObject({ access_token: "at-2", connection });
    expect((await revoke({ connection, ...OWN })).body).toEqual({ revoked: "token" });
    const own = basic("mine", OWN.vendor_client_secret);
    expect(seen.slice(before).map(({ authorization }) => authorization)).toEqual([own, own]);
  });

  it.each<[string, Record<string, string>]>([
    ["with another secret", { vendor_client_id: "mine", vendor_client_secret: "guessed" }],
    ["without the secret", { vendor_client_id: "mine" }],
  ])("bar#RF-1 a second refresh %s gets nothing of the first one's answer, and sends nothing", async (_, wrong) => {
    const { refresh, seen } = await connected();
    expect((await refresh({ vendor: "acme", ...OWN })).body["access_token"]).toBe("at-2");
    const before = seen.length;
    const { response, body } = await refresh({ vendor: "acme", ...wrong });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "60"]);
    expect(body).toMatchObject({ error: "temporarily_unavailable", reason: "just_refreshed" });
    expect((await refresh({ vendor: "acme", ...OWN })).body["access_token"]).toBe("at-2");
    expect(seen).toHaveLength(before);
  });

  it("a public client is named by its connection", async () => {
    const { connection, refresh, seen } = await connected({ vendor_client_id: "mine" });
    expect((await refresh({ connection })).response.status).toBe(200);
    expect(seen.at(-1)?.form.get("client_id")).toBe("mine");
  });

  it("bar#BY-4 a connection of our credentials takes no others", async () => {
    const { connection, refresh, seen } = await connected({});
    expect((await refresh({ connection, ...OWN })).body["error"]).toBe("invalid_request");
    expect(seen).toHaveLength(1);
  });

  it("takes the vendor with credentials in place of a connection", async () => {
    const { refresh, seen } = await connected();
    expect((await refresh({ vendor: "acme", ...OWN })).body["access_token"]).toBe("at-2");
    expect(seen.at(-1)?.authorization).toBe(basic("mine", OWN.vendor_client_secret));
  });

  it("bar#BY-5 bar#OB-3 is refused once the vendor was disabled or taken from the client", async () => {
    const vendors = new Map([["acme", testVendor()]]);
    const { connect, post } = await testBroker({ config: { vendors } });
    const { connection } = await connect(OWN);
    const form = { token: "at", connection, ...OWN };
    vendors.set("acme", testVendor({ enabled: false }));
    expect((await post("/v1/revoke", form)).body["error"]).toBe("invalid_request");
  });

  it("bar#BY-1 /v1/explain names the client and hides the secret, with and without a connection", async () => {
    const { post, connection } = await connected();
    for (const form of [{ vendor: "acme", ...OWN }, { connection }, { connection, ...OWN }]) {
      const { response, body } = await post("/v1/explain", form);
      expect(response.status).toBe(200);
      expect(body).toMatchObject({
        tier: 1,
        credentials: { source: "byoc", vendor_client_id: "mine" },
        sources: { vendor_client_id: "connection" in form ? "connection" : "request", token_endpoint: "configuration" },
      });
      expect(JSON.stringify(body)).not.toContain(OWN.vendor_client_secret);
    }
  });
});
