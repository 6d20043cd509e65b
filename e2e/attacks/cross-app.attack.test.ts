/**
 * Attacker: a vendor (`evil`) that the operator has registered beside an honest one, together with
 * an accomplice who has an account at the platform. Goal: to redeem a code that the honest vendor
 * issued for another user, in their own flow. Defence: `iss` beside the code is compared with the
 * vendor the flow began with (requireIssuer). Where neither vendor sends `iss` there is no defence:
 * the last tests of X-1 show that.
 */
import { ownerOf } from "@oauth-broker/simulators";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { describe, expect, it } from "vitest";
import { createBouncingVendor, crossApp } from "./support/bouncing-vendor.ts";
import { expectRefusalPage, withoutIssuer } from "./support/outcomes.ts";
import { atCallback, openScene, parameter, recordOf } from "./support/actors.ts";
import { BASE_URL, EVIL, HONEST, ownerOfCode } from "./support/names.ts";

async function setUp(entries?: Record<string, object>, sendsIss = true) {
  const evil = createBouncingVendor({ origin: EVIL });
  const given = entries === undefined ? {} : { entries };
  return { evil, ...(await openScene({ vendor: { sendsIss }, vendors: [evil], ...given })) };
}
type Harness = Awaited<ReturnType<typeof setUp>>;

/** Both flows are of one platform, and the attacker says that the code is the honest vendor's. */
function cross({ backend: own, attacker, victim, evil }: Harness) {
  return crossApp({ attacker, victim, own, lure: [own, { vendor: "evil" }], evil, beside: { iss: HONEST } });
}

describe("X-1 an honest code comes back in a flow of the evil vendor", () => {
  it("bar#XA-1 X-1 is refused: the flow is burned, and the code reaches no endpoint and no log", async () => {
    const harness = await setUp();
    const { destination, answer, lured } = await cross(harness);
    const code = parameter(answer, "code");
    expectRefusalPage(destination.page, "issuer_mismatch", [code, parameter(answer, "state")]);
    expect(harness.evil.tokenRequests).toEqual([]);
    expect(harness.fixture.logLines.join("")).not.toContain(code);
    expect((await recordOf(harness.fixture, lured))?.stage).toBe("failed");
    expectRefusalPage((await harness.victim.visit(answer)).page, "state_replayed");
  });

  it("X-1 twin: without requireIssuer the evil vendor gets the code and our secret", async () => {
    const harness = await setUp();
    withoutIssuer();
    const { stolen, redeemStolen } = await cross(harness);
    expect(harness.honest.codes).toContain(stolen);
    expect(harness.evil.tokenRequests[0]?.headers.authorization).toMatch(/^Basic /);
    expect(ownerOf((await redeemStolen()).body["access_token"])).toBe("victim");
  });

  it("X-1 is refused too where the evil vendor's entry names no issuer at all", async () => {
    const harness = await setUp({
      honest: { name: "Honest", issuer: HONEST },
      evil: { name: "Evil", authorization_endpoint: `${EVIL}/authorize`, token_endpoint: `${EVIL}/token` },
    });
    const { destination } = await cross(harness);
    expectRefusalPage(destination.page, "issuer_mismatch");
    expect(harness.evil.tokenRequests).toEqual([]);
  });

  describe("where the honest vendor sends no iss", () => {
    const endpointsAt = (origin: string) => ({
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
    });
    const HONEST_ENTRY = { name: "Honest", ...endpointsAt(HONEST) };
    const warningsOf = ({ fixture }: Harness) =>
      loadConfig({}, fixture.folder).warnings.filter((warning) => warning.startsWith("Vendor evil is one of your own"));

    it("X-1 is still refused when the evil vendor's answers must carry it", async () => {
      const evil = { name: "Evil", issuer: EVIL, ...endpointsAt(EVIL), iss_required: true };
      const harness = await setUp({ honest: HONEST_ENTRY, evil }, false);
      const { destination } = await cross(harness);
      expectRefusalPage(destination.page, "missing_issuer");
      expect([harness.evil.tokenRequests, warningsOf(harness)]).toEqual([[], []]);
    });

    // No other defence applies here, neither state nor context hash: the code comes back in the
    // very flow of the evil vendor.
    it("X-1 succeeds without that rule: start warns of it (docs/exceptions.md)", async () => {
      const harness = await setUp({ honest: HONEST_ENTRY, evil: { name: "Evil", ...endpointsAt(EVIL) } }, false);
      expect(warningsOf(harness)).toEqual([expect.stringContaining("shares the callback with honest")]);
      const { stolen, redeemStolen } = await cross(harness);
      expect(harness.honest.codes).toContain(stolen);
      expect(ownerOf((await redeemStolen()).body["access_token"])).toBe("victim");
    });
  });

  it("bar#XA-1 X-1 is refused on every path except that of the flow", async () => {
    const harness = await setUp();
    const { url } = await harness.backend.start(harness.victim, atCallback);
    for (const path of ["x", "honest", "evil", "A".repeat(22), "..%2fcallback%3f", "callback%3f"]) {
      const elsewhere = new URL(`${BASE_URL}/v1/custom/${path}/callback${url.search}`);
      expectRefusalPage((await harness.victim.visit(elsewhere)).page, "path_mismatch", [parameter(url, "code")]);
    }
    expect(harness.honest.tokenRequests).toEqual([]);
    expect(parameter((await harness.victim.visit(url)).url, "code")).not.toBe("");
  });
});

describe("X-13 the challenge in the victim's request is the attacker's", () => {
  it("X-13 stops here: the attacker's challenge is bound, but the code is not theirs", async () => {
    const harness = await setUp();
    const { answer, stolen } = await cross(harness);
    expect(ownerOfCode(parameter(answer, "code"))).toBe("victim");
    expect(stolen).toBeUndefined();
  });

  it("X-13 twin: PKCE alone does not help: the relayed challenge fits the attacker's verifier", async () => {
    const harness = await setUp();
    withoutIssuer();
    const { redeemStolen } = await cross(harness);
    expect(await redeemStolen()).toMatchObject({ status: 200, body: { vendor: "honest" } });
  });
});

describe("X-2 X-3 endpoints that the attacker chose beside credentials of the operator", () => {
  it.each([
    ["bar#XA-2 X-2 a token endpoint", { token_endpoint: `${EVIL}/token` }],
    ["bar#XA-2 X-2 an authorization endpoint", { authorization_endpoint: `${EVIL}/authorize` }],
    ["bar#XA-3 X-3 the honest issuer with a token endpoint", { issuer: HONEST, token_endpoint: `${EVIL}/token` }],
    [
      "bar#XA-3 X-3 the same without naming a vendor",
      { vendor: undefined, issuer: HONEST, token_endpoint: `${EVIL}/token` },
    ],
  ])("%s is refused, and nothing is sent", async (_name, form) => {
    const { fixture, backend } = await setUp();
    expect(await backend.par(form)).toMatchObject({ status: 400, body: { error: "unauthorized_client" } });
    expect(fixture.outbound).toEqual([]);
  });
});
