/**
 * A backend asks whether a user's connection is still good, so its access token travels once more,
 * and the operator's secret with it. Attacker: has changed what the honest vendor publishes of
 * itself, after the user connected, or is another client of the broker. Goal: the victim's token
 * or the secret at a host of the attacker's. Defence: the token goes to the hosts that the
 * connection pinned when it was issued, and the connection opens for its own client alone.
 */
import { ownerOf } from "@oauth-broker/simulators";
import { keptOf } from "@oauth-broker/oauth-core/vendor-client";
import * as grantContextModule from "@oauth-broker/broker/src/grants/grant-context.ts";
import * as connectionModule from "@oauth-broker/broker/src/grants/connection.ts";
import { describe, expect, it } from "vitest";
import { EVIL } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import { openScene } from "./support/actors.ts";

const HOUR_SECONDS = 3600;

async function setUp() {
  let published: Readonly<Record<string, unknown>> = {};
  const { fixture, backend, foe, victim } = await openScene({ vendor: { metadata: () => published } });
  const { access_token = "", connection = "", refresh_token } = (await backend.connect(victim)).body;
  expect(ownerOf(access_token)).toBe("victim");
  return {
    fixture,
    backend,
    foe,
    grant: { access_token, connection },
    refresh_token,
    /** What the vendor's metadata says from now on. */
    publish: (members: Readonly<Record<string, unknown>>) => {
      published = members;
      fixture.now.advance(HOUR_SECONDS);
    },
    /** What has reached the attacker's host. */
    leaked: () =>
      fixture.outbound
        .filter(({ url: to }) => to.startsWith(EVIL))
        .map(({ body: sent, headers }) => [sent, headers.get("authorization")].join()),
  };
}

const ELSEWHERE = [
  { introspection_endpoint: `${EVIL}/introspect` },
  { userinfo_endpoint: `${EVIL}/me` },
  { introspection_endpoint: `${EVIL}/introspect`, userinfo_endpoint: `${EVIL}/me` },
];

describe.each(ELSEWHERE)("bar#BY-4 a vendor whose metadata later says %j", (members) => {
  async function attack() {
    const { backend, grant, refresh_token, publish, leaked } = await setUp();
    publish(members);
    const before = await backend.post("/v1/check", grant);
    const { body } = await backend.refresh({ refreshToken: refresh_token, connection: grant.connection });
    const after = await backend.post("/v1/check", { ...grant, connection: String(body["connection"]) });
    return { answers: [before.body, after.body], leaked: leaked(), token: grant.access_token };
  }

  it("gets no token and no secret, and the backend learns that it is not known", async () => {
    const { answers, leaked } = await attack();
    const unknown = { active: null, checked_by: "none" };
    expect(answers).toEqual([unknown, unknown]);
    expect(leaked).toEqual([]);
  });

  it("twin: with the hosts of today in place of those of the connection, the token is there", async () => {
    without(grantContextModule, ({ readGrantContext }) => ({
      readGrantContext: async (...call) => {
        const { connection, ...context } = await readGrantContext(...call);
        return { ...context, connection: { ...connection, checkHosts: keptOf(context.vendor).checkHosts } };
      },
    }));
    const { leaked, token } = await attack();
    expect(leaked.join()).toContain(token);
  });
});

describe("bar#RF-7 another client's connection and token", () => {
  async function ask() {
    const { foe, fixture, grant } = await setUp();
    const before = fixture.outbound.length;
    const { status, body } = await foe.post("/v1/check", grant);
    return { status, error: body["error"], sent: fixture.outbound.length - before };
  }

  it("are not asked about: the connection opens for its own client", async () => {
    expect(await ask()).toEqual({ status: 400, error: "invalid_request", sent: 0 });
  });

  it("twin: with any client's connection opened, the other learns about the victim's", async () => {
    without(connectionModule, ({ openConnection }) => ({
      openConnection: (value, _clientId, deps) => openConnection(value, "platform", deps),
    }));
    expect(await ask()).toMatchObject({ status: 200 });
  });
});
