/**
 * Attacker: another client, another vendor, or a vendor that changes during the flow. Goal: a value
 * made for one client, vendor or set of endpoints is accepted for another. Defence: every value is
 * bound to its own flow, browser and client (associatedData for the sealed ones), an answer names
 * its vendor (requireIssuer), and every leg compares the context of the flow (flowContextHash).
 */
import { createFakeVendor, type FakeVendorOptions, ownerOf } from "@oauth-broker/simulators";
import * as issuerModule from "../../packages/oauth-core/src/vendor-client/issuer.ts";
import * as keptModule from "../../packages/oauth-core/src/vendor-client/kept.ts";
import * as encodingModule from "../../packages/token-store/src/crypto/encoding.ts";
import { describe, expect, it } from "vitest";
import { BASE_URL, CALLBACK, PLATFORMS, VENDOR_CLIENT } from "./support/names.ts";
import { expectRefusalPage, without } from "./support/outcomes.ts";
import {
  atCallback,
  awayFromBroker,
  challengeOf,
  createBackend,
  createBrowser,
  type Form,
  parameter,
  withParameters,
} from "./support/actors.ts";
import { createFixture } from "./support/fixture.ts";

const EVIL = "https://evil.example";

const HONEST = "https://honest.example";

function vendorAt(origin: string, options: Partial<FakeVendorOptions> = {}) {
  return createFakeVendor({ ...VENDOR_CLIENT, origin, redirectUri: CALLBACK, ...options });
}

async function setUp(options?: Partial<FakeVendorOptions>) {
  const [honest, evil] = [vendorAt(HONEST, options), vendorAt(EVIL)];
  const fixture = await createFixture({ vendors: [honest, evil] });
  return { fixture, evil, victim: createBrowser(fixture, "victim") };
}
type Harness = Awaited<ReturnType<typeof setUp>>;

describe("X-5 a value of one flow, client or vendor used on another", () => {
  it("bar#XA-5 X-5 a cookie opens its own flow only, whatever name it is sent under", async () => {
    const { fixture, victim } = await setUp();
    const backend = createBackend(fixture);
    const [one, two] = [await backend.push(), await backend.push({ vendor: "evil" })];
    const first = await victim.visit(backend.startUrl(one), atCallback);
    const other = createBrowser(fixture, "other");
    await other.visit(backend.startUrl(two), awayFromBroker);
    const value = other.jar.get(new URL(CALLBACK), `__Host-flow-${two.flowId}`) ?? "";
    const answer = await fixture.request(first.url, { headers: { cookie: `__Host-flow-${one.flowId}=${value}` } });
    expectRefusalPage(answer, "browser_mismatch", [value]);
    expect(parameter((await victim.visit(first.url)).url, "state")).toBe(one.state);
  });

  it("bar#XA-5 X-5 a request_uri and a code are useful only to the client they were made for", async () => {
    const { fixture, victim } = await setUp();
    const [backend, foreign] = [createBackend(fixture), createBackend(fixture, "other")];
    const flow = await backend.push();
    expectRefusalPage((await victim.visit(foreign.startUrl(flow))).page, "request_uri_unknown");
    const { url } = await victim.visit(backend.startUrl(flow));
    const code = parameter(url, "code");
    const tried = [
      await foreign.redeem(code, flow.codeVerifier),
      await foreign.redeem(code, flow.codeVerifier, { redirect_uri: `${url.origin}${url.pathname}` }),
    ];
    for (const { body } of tried) expect(body["error"]).toBe("invalid_grant");
    expect((await backend.redeem(code, flow.codeVerifier)).status).toBe(200);
  });

  async function refreshByAnother({ fixture, victim }: Harness) {
    const [backend, foreign] = [createBackend(fixture), createBackend(fixture, "other")];
    const flow = await backend.push();
    const { url } = await victim.visit(backend.startUrl(flow));
    const { body } = await backend.redeem(parameter(url, "code"), flow.codeVerifier);
    const { connection, refresh_token } = body as Record<string, string>;
    return foreign.post("/v1/token", { grant_type: "refresh_token", refresh_token, connection });
  }

  it("bar#XA-5 X-5 a connection is its own client's only", async () => {
    expect(await refreshByAnother(await setUp())).toMatchObject({ status: 400, body: { error: "invalid_request" } });
  });

  it("X-5 twin: without the context in its seal any client opens any connection", async () => {
    const harness = await setUp();
    without(encodingModule, ({ associatedData }) => ({
      associatedData: (version) => associatedData(version, ["anywhere"]),
    }));
    expect(ownerOf((await refreshByAnother(harness)).body["access_token"])).toBe("victim");
  });
});

describe("X-5 an attacker with write access to the store gives a flow to another client", () => {
  /**
   * The attacker has no key of the broker: `state` cannot be forged, and it names the context the
   * flow began in.
   */
  async function moveToAnother({ fixture, victim }: Harness) {
    const [backend, foe] = [createBackend(fixture), createBackend(fixture, "other")];
    const flow = await backend.push();
    const { url } = await victim.visit(backend.startUrl(flow), atCallback);
    const codeVerifier = "v".repeat(43);
    const set = {
      clientId: foe.clientId,
      redirectUri: PLATFORMS.other.redirectUri,
      codeChallenge: challengeOf(codeVerifier),
    };
    const key = { kind: "flow", id: flow.flowId };
    const { records } = fixture.broker.deps;
    const moved = await records.advance(
      key,
      { stage: "started", expect: { clientId: "platform" } },
      { stage: "started", set },
    );
    expect(moved.outcome).toBe("moved");
    const destination = await victim.visit(url);
    const redeem = async () => foe.redeem(parameter(destination.url, "code"), codeVerifier);
    return { destination, redeem };
  }

  it("bar#XA-5 X-5 is refused at the callback: the client is in the context hash", async () => {
    const harness = await setUp();
    const { destination } = await moveToAnother(harness);
    expectRefusalPage(destination.page, "context_mismatch");
    expect(harness.fixture.vendors.flatMap(({ tokenRequests }) => tokenRequests)).toEqual([]);
  });

  it("X-5 twin: without the client in flowContextHash the other client gets the victim's tokens", async () => {
    const harness = await setUp();
    without(keptModule, ({ flowContextHash }) => ({
      flowContextHash: (input) => flowContextHash({ ...input, platformClientId: "any" }),
    }));
    const { redeem } = await moveToAnother(harness);
    expect(ownerOf((await redeem()).body["access_token"])).toBe("victim");
  });
});

describe("X-9 an error of the evil vendor in a flow of the honest one", () => {
  async function errorFromElsewhere({ fixture, victim }: Harness) {
    const backend = createBackend(fixture);
    const flow = await backend.push();
    const { url } = await victim.visit(backend.startUrl(flow), atCallback);
    const parameters = { state: parameter(url, "state"), iss: EVIL, error: "access_denied" };
    const prose = { error_description: "Call this number", error_uri: `${EVIL}/help` };
    return { flow, destination: await victim.visit(withParameters(CALLBACK, { ...parameters, ...prose })) };
  }

  it("bar#CB-9 X-9 is neither shown nor relayed, and ends the flow", async () => {
    const harness = await setUp();
    const { flow, destination } = await errorFromElsewhere(harness);
    expectRefusalPage(destination.page, "issuer_mismatch", ["access_denied", "Call this number", EVIL]);
    const record = await harness.fixture.broker.deps.records.get({ kind: "flow", id: flow.flowId });
    expect(record).toMatchObject({ stage: "failed", data: { failed: { reason: "issuer_mismatch" } } });
  });

  it("X-9 twin: without requireIssuer the platform gets the evil vendor's made-up error", async () => {
    const harness = await setUp();
    without(issuerModule, () => ({ requireIssuer: () => undefined }));
    const { destination } = await errorFromElsewhere(harness);
    expect(parameter(destination.url, "error")).toBe("access_denied");
  });
});

describe("X-12 the vendor's metadata names other endpoints between start and callback", () => {
  const ENTRY = {};
  const TENANTS = "tenants-own-client";
  const ISSUER_ALONE = {
    vendor: undefined,
    issuer: HONEST,
    vendor_client_id: TENANTS,
    vendor_client_secret: VENDOR_CLIENT.clientSecret,
  };

  async function flip(form: Form) {
    let current: Record<string, string> = {};
    const isTenants = form["vendor_client_id"] === TENANTS;
    const { fixture, evil, victim } = await setUp({
      metadata: () => current,
      ...(isTenants ? { clientId: TENANTS, isRegistered: (sent) => sent.startsWith(`${BASE_URL}/v1/custom/`) } : {}),
    });
    const backend = createBackend(fixture);
    // The metadata has been cached for nearly its whole lifetime; it is read again while the user
    // is at the vendor.
    await backend.push(form);
    fixture.now.advance(400);
    const flow = await backend.push(form);
    const { url } = await victim.visit(backend.startUrl(flow), atCallback);
    current = { token_endpoint: `${EVIL}/token` };
    fixture.now.advance(300);
    const destination = await victim.visit(url);
    const code = destination.url.searchParams.get("code");
    const isBack = destination.page === undefined && code !== null;
    return { evil, destination, redeemed: isBack ? await backend.redeem(code, flow.codeVerifier) : undefined };
  }

  it.each([
    ["an entry", ENTRY],
    ["an issuer a request names", ISSUER_ALONE],
  ])("bar#DI-3 bar#XA-5 X-12 V-67 is refused for %s, and nothing reaches the new endpoint", async (_, form) => {
    const { evil, destination } = await flip(form);
    expectRefusalPage(destination.page, "context_mismatch");
    expect(evil.tokenRequests).toEqual([]);
  });

  it.each([
    ["an entry", ENTRY],
    ["an issuer a request names", ISSUER_ALONE],
  ])("X-12 twin: without flowContextHash code and secret of %s go to the new endpoint", async (_, form) => {
    without(keptModule, () => ({ flowContextHash: () => "the same for all" }));
    const { evil } = await flip(form);
    const [asked] = evil.tokenRequests;
    expect(ownerOf(asked?.form.get("code")?.replace("code-", "token-"))).toBe("victim");
    expect(atob(asked?.headers.authorization?.replace("Basic ", "") ?? "")).toContain(VENDOR_CLIENT.clientSecret);
  });
});
