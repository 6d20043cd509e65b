/**
 * Attacker: an authenticated client whose calls all take as long as a call may, at a vendor that
 * others use too, or at a slow host of its own. Goal: the calls of other clients wait until they
 * are abandoned. Defence: at one origin a client has a share of the connections and of the queue,
 * and calls are counted by client (callerName). The vendors are on loopback, behind the real
 * egress.
 */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { startScriptedVendor } from "@oauth-broker/simulators";
import * as shareModule from "../../packages/oauth-core/src/egress/share.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { without } from "./support/outcomes.ts";
import { type Answer, type Backend, createBackend, type Form } from "./support/actors.ts";
import { createFixture } from "./support/fixture.ts";

/** More than a client's share of an origin's connections. */
const CALLS = 120;
const TIMEOUT_MS = 3_000;

type Host = Awaited<ReturnType<typeof startHost>>;
/**
 * Answers tokens and metadata, but never a request that contains `slow` in path or body.
 * @returns `held`: requests it has not answered
 */
async function startHost() {
  const held: ServerResponse[] = [];
  const { url: origin, close } = await startScriptedVendor({
    "*": ({ path, query, body }, response) => {
      if (`${path}?${query.toString()}${body}`.includes("slow")) return void held.push(response);
      const issuer = `${origin}${path.replace(/\/\.well-known\/.*$/, "")}`;
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ["code"],
        jwks_uri: `${issuer}/jwks`,
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["ES256"],
      };
      return { body: { access_token: "token-of-victim-1", token_type: "Bearer", ...metadata } };
    },
  });
  onTestFinished(close);
  return { origin, held };
}

async function setUp(host: Host, vendor?: object) {
  const config = { egress: { allow_loopback: true } };
  const entry = vendor ?? {
    name: "Shared",
    authorization_endpoint: `${host.origin}/authorize`,
    token_endpoint: `${host.origin}/token`,
  };
  const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: TIMEOUT_MS });
  const fixture = await createFixture({ vendors: [], entries: { shared: entry }, config, egress });
  return { attacker: createBackend(fixture), victim: createBackend(fixture, "other"), now: fixture.now };
}

/** The victim's call waited until one of the attacker's calls was abandoned. */
const HELD_UP = "held up";

/**
 * Sends the attacker's calls first and, once the hosts hold those that reach them, the victim's
 * call.
 *
 * @returns the status of the victim's answer if it comes while all the attacker's calls still wait
 */
async function race(
  hosts: readonly Host[],
  attack: (at: number) => Promise<Answer>,
  theirs: () => Promise<Answer>,
): Promise<number | typeof HELD_UP> {
  const attacks = Array.from({ length: CALLS }, (_, at) => attack(at));
  const heldNow = (): number => hosts.reduce((sum, { held }) => sum + held.length, 0);
  for (let before = -1; heldNow() > before || before < 1; await sleep(50)) before = heldNow();
  const givenUp = Promise.any(attacks).then((): typeof HELD_UP => HELD_UP);
  const first = await Promise.race([theirs().then(({ status }) => status), givenUp]);
  // Those that waited in the queue come next.
  const release = setInterval(() => {
    for (const { held } of hosts) for (const response of held.splice(0)) response.destroy();
  }, 20);
  await Promise.allSettled(attacks);
  clearInterval(release);
  return first;
}

const refresh = (token: string): Form => ({ grant_type: "refresh_token", vendor: "shared", refresh_token: token });
const explain = (issuer: string): Form => ({ issuer, vendor_client_id: "mine" });

type Send = (by: Backend, host: Host, name: string) => Promise<Answer>;
const SLOW: readonly (readonly [string, Send])[] = [
  ["calls of one client at a vendor that another uses", (by, _, name) => by.post("/v1/token", refresh(name))],
  [
    "look-ups of one client at a host of its choice",
    (by, { origin }, name) => by.post("/v1/explain", explain(`${origin}/${name}`)),
  ],
];

describe.each(SLOW)("bar#ST-8 slow %s", (_, send) => {
  async function beside() {
    const host = await startHost();
    const { attacker, victim } = await setUp(host);
    return race(
      [host],
      (at) => send(attacker, host, `slow-${at}`),
      () => send(victim, host, "quick"),
    );
  }

  it("do not hold up another's there", async () => {
    expect(await beside()).toBe(200);
  });

  it("twin: hold it up where all calls are one caller's", async () => {
    without(shareModule, () => ({ callerName: () => "" }));
    expect(await beside()).toBe(HELD_UP);
  });
});

describe("bar#ST-8 slow calls and look-ups of one client", () => {
  it("do not hold up the vendor's metadata, although that client was the first to need it", async () => {
    const host = await startHost();
    const { attacker, victim, now } = await setUp(host, { name: "Shared", issuer: host.origin });
    const explained = { vendor: "shared" };
    expect((await victim.post("/v1/explain", explained)).status).toBe(200);
    const pending: Promise<Answer>[] = [];
    const theirs = (): Promise<Answer> => {
      now.advance(601);
      pending.push(attacker.post("/v1/explain", explained));
      return victim.post("/v1/explain", explained);
    };
    expect(await race([host], (at) => attacker.post("/v1/token", refresh(`slow-${at}`)), theirs)).toBe(200);
    await Promise.all(pending);
  });

  it("do not hold up another's elsewhere", async () => {
    const hosts = await Promise.all(Array.from({ length: 40 }, startHost));
    const shared = await startHost();
    const { attacker, victim } = await setUp(shared);
    const attack = (at: number): Promise<Answer> =>
      attacker.post("/v1/explain", explain(`${hosts[at % hosts.length]?.origin ?? ""}/slow-${at}`));
    expect(await race(hosts, attack, () => victim.post("/v1/token", refresh("quick")))).toBe(200);
  });
});
