/**
 * Attacker: another client, another vendor, or a vendor that changes during the flow. Goal: a value
 * made for one client, vendor or set of endpoints is accepted for another. Defence: every value is
 * bound to its own flow, browser and client (associatedData for the sealed ones), an answer names
 * its vendor (requireIssuer), and every leg compares the context of the flow (flowContextHash).
 */
import { type FakeVendorOptions, ownerOf } from "@oauth-broker/simulators";
import * as keptModule from "../../packages/oauth-core/src/vendor-client/kept.ts";
import * as encodingModule from "../../packages/token-store/src/crypto/encoding.ts";
import { describe, expect, it } from "vitest";
import {
  BASE_URL,
  basicSentTo,
  CALLBACK,
  EVIL,
  HONEST,
  ownerOfCode,
  PLATFORMS,
  vendorAt,
  VENDOR_CLIENT,
} from "./support/names.ts";
import { expectRefusalPage, without, withoutIssuer } from "./support/outcomes.ts";
import {
  atCallback,
  awayFromBroker,
  challengeOf,
  createBrowser,
  type Form,
  openScene,
  parameter,
  recordOf,
  withParameters,
} from "./support/actors.ts";

async function setUp(vendor: Partial<FakeVendorOptions> = {}) {
  const evil = vendorAt(EVIL);
  return { evil, ...(await openScene({ vendor, vendors: [evil] })) };
}
type Harness = Awaited<ReturnType<typeof setUp>>;

describe("X-5 a value of one flow, client or vendor used on another", () => {
  it("bar#XA-5 X-5 a cookie opens its own flow only, whatever name it is sent under", async () => {
    const { fixture, backend, victim } = await setUp();
    const { flow: one, ...first } = await backend.start(victim, atCallback);
    const other = createBrowser(fixture, "other");
    const { flow: two } = await backend.start(other, awayFromBroker, { vendor: "evil" });
    const value = other.jar.get(new URL(CALLBACK), `__Host-flow-${two.flowId}`) ?? "";
    const answer = await fixture.request(first.url, { headers: { cookie: `__Host-flow-${one.flowId}=${value}` } });
    expectRefusalPage(answer, "browser_mismatch", [value]);
    expect(parameter((await victim.visit(first.url)).url, "state")).toBe(one.state);
  });

  it("bar#XA-5 X-5 a request_uri and a code are useful only to the client they were made for", async () => {
    const { backend, foe: foreign, victim } = await setUp();
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

  async function refreshByAnother({ backend, foe, victim }: Harness) {
    const { connection, refresh_token } = (await backend.connect(victim)).body;
    return foe.post("/v1/token", { grant_type: "refresh_token", refresh_token, connection });
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
  async function moveToAnother({ fixture, backend, foe, victim }: Harness) {
    const { flow, url } = await backend.start(victim, atCallback);
    const codeVerifier = "v".repeat(43);
    const { redirectUri } = PLATFORMS.other;
    const set = { clientId: foe.clientId, redirectUri, codeChallenge: challengeOf(codeVerifier) };
    const from = { stage: "started", expect: { clientId: "platform" } } as const;
    const { records } = fixture.broker.deps;
    const moved = await records.advance({ kind: "flow", id: flow.flowId }, from, { stage: "started", set });
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
  async function errorFromElsewhere({ backend, victim }: Harness) {
    const { flow, url } = await backend.start(victim, atCallback);
    const parameters = { state: parameter(url, "state"), iss: EVIL, error: "access_denied" };
    const prose = { error_description: "Call this number", error_uri: `${EVIL}/help` };
    return { flow, destination: await victim.visit(withParameters(CALLBACK, { ...parameters, ...prose })) };
  }

  it("bar#CB-9 X-9 is neither shown nor relayed, and ends the flow", async () => {
    const harness = await setUp();
    const { flow, destination } = await errorFromElsewhere(harness);
    expectRefusalPage(destination.page, "issuer_mismatch", ["access_denied", "Call this number", EVIL]);
    const failed = { stage: "failed", data: { failed: { reason: "issuer_mismatch" } } };
    expect(await recordOf(harness.fixture, flow)).toMatchObject(failed);
  });

  it("X-9 twin: without requireIssuer the platform gets the evil vendor's made-up error", async () => {
    const harness = await setUp();
    withoutIssuer();
    const { destination } = await errorFromElsewhere(harness);
    expect(parameter(destination.url, "error")).toBe("access_denied");
  });
});

describe("X-12 the vendor's metadata names other endpoints between start and callback", () => {
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
    const { fixture, backend, evil, victim } = await setUp({
      metadata: () => current,
      ...(isTenants ? { clientId: TENANTS, isRegistered: (sent) => sent.startsWith(`${BASE_URL}/v1/custom/`) } : {}),
    });
    // The metadata has been cached for nearly its whole lifetime; it is read again while the user
    // is at the vendor.
    await backend.push(form);
    fixture.now.advance(400);
    const { flow, url } = await backend.start(victim, atCallback, form);
    current = { token_endpoint: `${EVIL}/token` };
    fixture.now.advance(300);
    const destination = await victim.visit(url);
    const code = destination.url.searchParams.get("code");
    const isBack = destination.page === undefined && code !== null;
    return { evil, destination, redeemed: isBack ? await backend.redeem(code, flow.codeVerifier) : undefined };
  }

  const CASES: [string, Form][] = [
    ["an entry", {}],
    ["an issuer a request names", ISSUER_ALONE],
  ];

  it.each(CASES)(
    "bar#DI-3 bar#XA-5 X-12 V-67 is refused for %s, and nothing reaches the new endpoint",
    async (_, form) => {
      const { evil, destination } = await flip(form);
      expectRefusalPage(destination.page, "context_mismatch");
      expect(evil.tokenRequests).toEqual([]);
    },
  );

  it.each(CASES)("X-12 twin: without flowContextHash code and secret of %s go to the new endpoint", async (_, form) => {
    without(keptModule, () => ({ flowContextHash: () => "the same for all" }));
    const { evil } = await flip(form);
    expect(ownerOfCode(evil.tokenRequests[0]?.form.get("code"))).toBe("victim");
    expect(basicSentTo(evil)).toContain(VENDOR_CLIENT.clientSecret);
  });
});
