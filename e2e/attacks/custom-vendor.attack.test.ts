/**
 * Attacker: a client of the broker that may name its own endpoints, with a vendor it runs itself
 * and an accomplice who has an account at another platform. Client ids are public, and the attacker
 * chooses its own credentials. Goal: a code that an honest vendor issued for another user, or a
 * secret of the operator, at the attacker's token endpoint. Defence: the operator's credentials go
 * to the operator's endpoints only (requireAllowedPart), an issuer comes with its own endpoints
 * (readTarget), and the attacker's vendor has its own callback path, which an honest vendor does
 * not know (callbackContext) and where alone its answers count.
 */
import { ownerOf } from "@oauth-broker/simulators";
import * as callersPartModule from "@oauth-broker/broker/src/vendor-choice/callers-part.ts";
import * as requestModule from "@oauth-broker/broker/src/vendor-choice/request.ts";
import * as callbackPathModule from "@oauth-broker/broker/src/vendor-choice/callback-path.ts";
import * as registrationsModule from "@oauth-broker/broker/src/vendor-choice/registrations.ts";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import {
  BASE_URL,
  basicSentTo,
  CALLBACK,
  EVIL,
  HONEST,
  ownerOfCode,
  PLATFORMS,
  VENDOR_CLIENT,
} from "./support/names.ts";
import { createBouncingVendor, crossApp } from "./support/bouncing-vendor.ts";
import { expectRefusalPage, withoutPathOfFlow, without } from "./support/outcomes.ts";
import { type Backend, awayFromBroker, openScene, parameter, withParameters } from "./support/actors.ts";

const ONE_FOR_ALL = "A".repeat(22);
const SHARED = `${BASE_URL}/v1/custom/${ONE_FOR_ALL}/callback`;

/** The attacker's own registration: the attacker's vendor accepts any. */
const ATTACKERS = { vendor_client_id: "attackers", vendor_client_secret: "attackers-secret-0123456789abcdef" };
const EVIL_ENDPOINTS = { authorization_endpoint: `${EVIL}/authorize`, token_endpoint: `${EVIL}/token` };
/** Public: it is in every URL that the honest vendor's users see. */
const ANOTHERS = { authorization_endpoint: `${HONEST}/authorize`, vendor_client_id: VENDOR_CLIENT.clientId };

interface Harness {
  /** Where the honest vendor sends users of the client the attacker names. */
  readonly registered?: string;
  readonly sendsIss?: boolean;
  /** A public client of another tenant there, instead of the broker's own. */
  readonly tenantsClientId?: string;
}

async function setUp({ registered: first = CALLBACK, sendsIss = false, tenantsClientId }: Harness = {}) {
  let registered = first;
  const evil = createBouncingVendor({ origin: EVIL });
  const scene = await openScene({
    vendor: {
      ...(tenantsClientId === undefined ? {} : { clientId: tenantsClientId, isPublic: true }),
      redirectUri: first,
      isRegistered: (sent) => sent === registered,
      sendsIss,
    },
    vendors: [evil],
    entries: { honest: { name: "Honest", issuer: HONEST, iss_required: sendsIss } },
  });
  return {
    ...scene,
    evil,
    /** From now on the honest vendor accepts only this redirect URI. */
    register: (redirectUri: unknown) => {
      registered = String(redirectUri);
    },
  };
}

const NOT_ALLOWED = { status: 400, body: { error: "unauthorized_client", reason: "override_not_allowed" } };
/** One path for all callers. */
const shareCallbackPath = () => without(callbackPathModule, () => ({ callbackContext: () => ONE_FOR_ALL }));

describe("X-1 X-13 an honest code comes back in a flow of a custom vendor", () => {
  /**
   * The classic attack of cross-app.attack.test.ts, with an evil vendor that no operator configured
   * and an honest one that sends no `iss`.
   */
  async function cross() {
    const harness = await setUp();
    const { attacker, victim, backend: own, foe, evil } = harness;
    const lure = [foe, { vendor: undefined, ...EVIL_ENDPOINTS, ...ATTACKERS }] as const;
    return { ...harness, ...(await crossApp({ attacker, victim, own, lure, evil })) };
  }

  it("bar#XA-1 X-1 X-13 is refused by the path: nothing reaches the evil token endpoint", async () => {
    const { destination, answer, evil, fixture } = await cross();
    expect(ownerOfCode(parameter(answer, "code"))).toBe("victim");
    expectRefusalPage(destination.page, "path_mismatch", [parameter(answer, "code"), parameter(answer, "state")]);
    expect(evil.tokenRequests).toEqual([]);
    expect(fixture.logLines.join("")).not.toContain(parameter(answer, "code"));
  });

  it("X-1 X-13 twin: an answer accepted on any path gives the attacker the victim's code", async () => {
    withoutPathOfFlow();
    const { evil, redeemStolen } = await cross();
    expect(ownerOfCode(evil.stolen())).toBe("victim");
    // PKCE alone does not help. None of our secrets was sent all the same.
    expect(basicSentTo(evil)).toBe(Object.values(ATTACKERS).join(":"));
    expect(ownerOf((await redeemStolen()).body["access_token"])).toBe("victim");
  });
});

describe("X-2 a token endpoint of the attacker's beside credentials of the operator", () => {
  async function ask() {
    const harness = await setUp();
    const answer = await harness.foe.par({ token_endpoint: `${EVIL}/token` });
    return { ...harness, answer };
  }

  it("bar#XA-2 X-2 is refused, and nothing is sent", async () => {
    const { answer, fixture } = await ask();
    expect(answer).toMatchObject(NOT_ALLOWED);
    expect(fixture.outbound).toEqual([]);
  });

  it("X-2 twin: without requireAllowedPart the evil endpoint gets the operator's secret", async () => {
    without(callersPartModule, () => ({ requireAllowedPart: () => undefined }));
    shareCallbackPath();
    const { foe, victim, evil } = await setUp({ registered: SHARED });
    await foe.connect(victim, { token_endpoint: `${EVIL}/token` });
    expect(basicSentTo(evil)).toContain(VENDOR_CLIENT.clientSecret);
  });
});

describe("X-3 the honest issuer with a token endpoint of the attacker's", () => {
  const CLAIM = { vendor: undefined, issuer: HONEST, token_endpoint: `${EVIL}/token` };

  it("bar#XA-3 X-3 is refused, also with the attacker's own credentials, and nothing is sent", async () => {
    const { foe, fixture } = await setUp({ sendsIss: true });
    const refused = { status: 400, body: { error: "unauthorized_client", reason: "endpoint_not_from_issuer" } };
    for (const more of [{}, { vendor: "honest" }, { vendor_client_id: VENDOR_CLIENT.clientId }]) {
      expect(await foe.par({ ...CLAIM, ...more })).toMatchObject(refused);
    }
    expect(fixture.outbound).toEqual([]);
  });

  it("X-3 twin: without readTarget's rule the honest vendor's codes go to the evil vendor", async () => {
    // The fixture has one client at the honest vendor. The attacker means another: one whose
    // redirect URI is the callback of a custom vendor.
    weaken(registrationsModule, () => ({ requireForeignClient: () => undefined }));
    shareCallbackPath();
    const { foe, victim, evil } = await setUp({ sendsIss: true, registered: SHARED });
    without(requestModule, ({ readAskedParameters, readOwnCredentials }) => ({
      readVendorRequest: (parameters) => ({
        target: {
          vendor: "custom",
          issuer: parameters.require("issuer"),
          tokenEndpoint: parameters.require("token_endpoint"),
        },
        ownCredentials: readOwnCredentials(parameters),
        asked: readAskedParameters(parameters),
      }),
    }));
    await foe.connect(victim, { ...CLAIM, vendor_client_id: VENDOR_CLIENT.clientId });
    expect(ownerOfCode(evil.stolen())).toBe("victim");
  });
});

describe("X-4 another's client id at the honest vendor with the attacker's token endpoint", () => {
  const FORM = { vendor: undefined, ...ANOTHERS, token_endpoint: `${EVIL}/token` };

  /** @param prepare what the other tenant has registered there, when that is not the callback */
  async function lure(prepare: (harness: Awaited<ReturnType<typeof setUp>>) => unknown = () => CALLBACK) {
    const harness = await setUp();
    const { foe, victim } = harness;
    harness.register(await prepare(harness));
    const flow = await foe.push(FORM);
    const destination = await victim.visit(foe.startUrl(flow)).catch((error: unknown) => error);
    const code = destination instanceof Error ? null : (destination as { url: URL }).url.searchParams.get("code");
    if (code !== null) await foe.redeem(code, flow.codeVerifier);
    return { ...harness, destination };
  }

  it("bar#XA-4 X-4 the broker's own client is refused before anything is sent", async () => {
    const { foe, fixture } = await setUp();
    expect(await foe.par(FORM)).toMatchObject(NOT_ALLOWED);
    expect(fixture.outbound).toEqual([]);
  });

  // From here on it is another tenant's client. The fixture has only one, which is the operator's
  // too.
  describe("of another tenant", () => {
    beforeEach(() => weaken(registrationsModule, () => ({ requireForeignClient: () => undefined })));

    it("bar#XA-4 X-4 is refused by the honest vendor: it does not know the redirect URI", async () => {
      const { destination, evil } = await lure();
      expect(String(destination)).toContain("redirect_uri is not registered");
      expect(evil.tokenRequests).toEqual([]);
    });

    it("bar#XA-4 X-4 is refused too if the other tenant has the same client at a custom vendor", async () => {
      const { destination, evil } = await lure(async ({ backend }) => {
        const { body } = await backend.post("/v1/explain", {
          ...ANOTHERS,
          token_endpoint: `${HONEST}/token`,
          vendor_client_secret: VENDOR_CLIENT.clientSecret,
        });
        return body["redirect_uri"];
      });
      expect(String(destination)).toContain("redirect_uri is not registered");
      expect(evil.tokenRequests).toEqual([]);
    });

    it("X-4 twin: with one path for all (callbackContext) the evil endpoint has the victim's code", async () => {
      shareCallbackPath();
      const { evil } = await lure(() => SHARED);
      expect(ownerOfCode(evil.stolen())).toBe("victim");
    });
  });
});

describe("X-4 another tenant's public client at its own custom vendor, named as that tenant names it", () => {
  const PUBLIC = "tenants-public-client";
  const FORM = {
    vendor: undefined,
    authorization_endpoint: `${HONEST}/authorize`,
    token_endpoint: `${HONEST}/token`,
    vendor_client_id: PUBLIC,
  };

  /**
   * Users of the tenant have consented to its client at the honest vendor. One of them opens a link
   * of the attacker.
   */
  async function lure() {
    const harness = await setUp({ tenantsClientId: PUBLIC });
    const { backend, foe, victim, register } = harness;
    register((await backend.post("/v1/explain", FORM)).body["redirect_uri"]);
    const connect = async (as: Backend) => ownerOf((await as.connect(victim, FORM)).body["access_token"]);
    expect(await connect(backend)).toBe("victim");
    return { ...harness, stolen: await connect(foe).catch(String) };
  }

  it("bar#XA-4 bar#XA-5 X-4 is refused by the vendor: the path is another client's", async () => {
    const { honest, stolen } = await lure();
    expect(stolen).toContain("redirect_uri is not registered");
    expect(honest.codes).toHaveLength(1);
  });

  it("X-4 twin: without the client in callbackContext the attacker redeems the victim's code", async () => {
    without(callbackPathModule, ({ callbackContext }) => ({
      callbackContext: (context, key) => callbackContext({ ...context, clientId: "any" }, key),
    }));
    expect((await lure()).stolen).toBe("victim");
  });
});

describe("X-5 values of a custom vendor used on another", () => {
  it("bar#XA-5 X-5 an answer counts on the path of its own flow only; the flow goes on", async () => {
    const { fixture, foe, victim } = await setUp();
    const forms = ["one", "two"].map((id) => ({ vendor: undefined, ...EVIL_ENDPOINTS, vendor_client_id: id }));
    const at = await Promise.all(forms.map((form) => foe.start(victim, awayFromBroker, form)));
    const [one, two] = at.map(({ url }) => ({ state: parameter(url, "state"), path: parameter(url, "redirect_uri") }));
    const answer = { code: "c", state: one?.state ?? "" };
    for (const path of [two?.path ?? "", CALLBACK]) {
      expectRefusalPage((await victim.visit(withParameters(path, answer))).page, "path_mismatch", [answer.state]);
    }
    const { url } = await victim.visit(withParameters(one?.path ?? "", answer));
    expect(url.href.startsWith(PLATFORMS.other.redirectUri)).toBe(true);
    expect(fixture.outbound).toEqual([]);
  });

  it("bar#BY-4 X-5 a BYOC connection is refused for another client and with other credentials", async () => {
    const { honest, backend, foe, victim, evil } = await setUp();
    const own = { vendor_client_id: VENDOR_CLIENT.clientId, vendor_client_secret: VENDOR_CLIENT.clientSecret };
    const { connection, refresh_token } = (await backend.connect(victim, own)).body;
    const refresh = { grant_type: "refresh_token", refresh_token, connection };
    const calls = honest.tokenRequests.length;
    for (const answer of [
      await foe.post("/v1/token", { ...refresh, ...own }),
      await backend.post("/v1/token", { ...refresh, ...ATTACKERS }),
      await backend.post("/v1/token", refresh),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    }
    const elsewhere = { ...refresh, ...own, token_endpoint: `${EVIL}/token` };
    expect((await backend.post("/v1/token", elsewhere)).status).toBe(400);
    expect([honest.tokenRequests.length, evil.tokenRequests.length]).toEqual([calls, 0]);
    expect((await backend.post("/v1/token", { ...refresh, ...own })).status).toBe(200);
  });
});
