/**
 * Several owners share the broker's client at a vendor. Attacker: a client of one owner (`other`,
 * Mallory) that holds a token of another owner's user. Goal: the broker uses its own client secret
 * at the vendor for that token: refreshes it, revokes it, or says whose it is. Defence: the broker
 * takes a token only beside the connection of its own answer, which holds a keyed hash of it and
 * opens for its own client (requireItsToken), or inside a sealed refresh token, which is bound to
 * the client too (readSealedGrant).
 */
import { ownerOf } from "@oauth-broker/simulators";
import * as tokenBindingModule from "@oauth-broker/broker/src/grants/token-binding.ts";
import * as sealedRefreshTokenModule from "@oauth-broker/broker/src/grants/sealed-refresh-token.ts";
import { describe, expect, it } from "vitest";
import { clientsOf } from "./support/fixture.ts";
import { HONEST } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import {
  type Answer,
  answerOwnerPage,
  type Backend,
  type Browser,
  createBrowser,
  type Form,
  locationOf,
  openScene,
  parameter,
} from "./support/actors.ts";

type Tokens = Record<"access_token" | "refresh_token" | "connection", string>;

async function setUp(refresh_tokens: "vendor" | "sealed" = "vendor") {
  const config = {
    owners: [{ id: "acme" }, { id: "mallory" }],
    clients: clientsOf({ platform: { owner: "acme", refresh_tokens }, other: { owner: "mallory", refresh_tokens } }),
  };
  const entry = {
    name: "Honest",
    issuer: HONEST,
    revocation_endpoint: `${HONEST}/token?revoke`,
    introspection_endpoint: `${HONEST}/token?introspect`,
  };
  const { fixture, backend, foe, victim } = await openScene({ config, entries: { honest: entry } });
  /** The user reads the owner page and goes on. */
  const connect = async (as: Backend, browser: Browser): Promise<Tokens> => {
    const flow = await as.push();
    const { url } = await browser.visit(locationOf(await answerOwnerPage(fixture, as.startUrl(flow), browser)));
    return (await as.redeem(parameter(url, "code"), flow.codeVerifier)).body as Tokens;
  };
  const stolen = await connect(backend, victim);
  const own = await connect(foe, createBrowser(fixture, "mallory"));
  expect([ownerOf(stolen.access_token), ownerOf(own.access_token)]).toEqual(["victim", "mallory"]);
  const before = fixture.outbound.length;
  return { foe, stolen, own, sent: () => fixture.outbound.length - before };
}

type Harness = Awaited<ReturnType<typeof setUp>>;

const DOORS: readonly [string, string, (stolen: Tokens) => Form][] = [
  ["refreshed", "/v1/token", ({ refresh_token }) => ({ grant_type: "refresh_token", refresh_token })],
  ["revoked by its access token", "/v1/revoke", ({ access_token }) => ({ token: access_token })],
  ["revoked by its refresh token", "/v1/revoke", ({ refresh_token }) => ({ token: refresh_token })],
  ["checked", "/v1/check", ({ access_token }) => ({ access_token })],
];

describe.each(DOORS)("bar#RF-7 rfc6749#10.4 a grant of another owner is to be %s", (_, path, formOf) => {
  /** What an attacker has to put beside it: its own connection, made as any user makes one. */
  const attack = async ({ foe, stolen, own, sent }: Harness) => {
    const { status, body } = await foe.post(path, { ...formOf(stolen), connection: own.connection });
    return { status, error: body["error"], sent: sent() };
  };

  it("beside the attacker's own connection it is refused, and nothing is sent", async () => {
    expect(await attack(await setUp())).toEqual({ status: 400, error: "invalid_grant", sent: 0 });
  });

  it("by the vendor's name it is refused, and nothing is sent", async () => {
    const { foe, stolen, sent } = await setUp();
    const { status, body } = await foe.post(path, { ...formOf(stolen), vendor: "honest" });
    expect([status, body["error"], sent()]).toEqual([400, "invalid_request", 0]);
  });

  it("twin: without requireItsToken the token goes to the vendor, with the broker's secret", async () => {
    const harness = await setUp();
    without(tokenBindingModule, () => ({ requireItsToken: async () => undefined }));
    expect(await attack(harness)).toMatchObject({ sent: 1 });
  });
});

it("bar#RF-7 twin: without requireItsToken the attacker holds the victim's new tokens", async () => {
  const { foe, stolen, own } = await setUp();
  const form = { grant_type: "refresh_token", refresh_token: stolen.refresh_token };
  without(tokenBindingModule, () => ({ requireItsToken: async () => undefined }));
  const taken = await foe.post("/v1/token", { ...form, connection: own.connection });
  expect(ownerOf(taken.body["access_token"])).toBe("victim");
  const again = { ...form, refresh_token: String(taken.body["refresh_token"]), vendor: "honest" };
  const named = await foe.post("/v1/token", again);
  expect(ownerOf(named.body["access_token"])).toBe("victim");
});

describe("bar#RF-7 rfc6749#10.4 a sealed refresh token of another client", () => {
  const attack = async ({ foe, stolen, sent }: Harness): Promise<[Answer, Answer, number]> => [
    await foe.post("/v1/token", { grant_type: "refresh_token", refresh_token: stolen.refresh_token }),
    await foe.post("/v1/revoke", { token: stolen.refresh_token }),
    sent(),
  ];

  it("is refused by itself, at both doors, and nothing is sent", async () => {
    const [refreshed, revoked, sent] = await attack(await setUp("sealed"));
    expect([revoked.status, revoked.body["error"]]).toEqual([400, "invalid_grant"]);
    expect([refreshed.status, refreshed.body["error"], sent]).toEqual([400, "invalid_grant", 0]);
  });

  it("twin: with any client's token opened, the attacker holds the victim's new tokens", async () => {
    const harness = await setUp("sealed");
    without(sealedRefreshTokenModule, ({ readSealedGrant }) => ({
      readSealedGrant: (token, _clientId, ...rest) => readSealedGrant(token, "platform", ...rest),
    }));
    const [refreshed] = await attack(harness);
    expect(ownerOf(refreshed.body["access_token"])).toBe("victim");
  });
});
