/**
 * Attacker: has an account at the platform, starts a flow and makes the victim finish it. Goal: the
 * victim's vendor tokens in the attacker's account. Defence: a vendor URL only comes back into the
 * browser it was given to (readBindingCookie), the tokens need the code_verifier from the session
 * that came back (verifyCodeVerifier), and the broker's code cannot be guessed (createHandle). A
 * platform that does not bind the flow to the session offers such a link itself: the third variant,
 * which the platform has to prevent.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { ownerOf } from "@oauth-broker/simulators";
import * as pkceModule from "../../packages/oauth-core/src/protocol/pkce.ts";
import * as handleModule from "../../packages/oauth-core/src/authorization-server/handle.ts";
import { describe, expect, it } from "vitest";
import { createFlowId, createHandle } from "../../packages/oauth-core/src/authorization-server/handle.ts";
import { expectRefusalPage, without, withoutBindingCookie } from "./support/outcomes.ts";
import {
  type Answer,
  awayFromBroker,
  type Browser,
  createBackend,
  type Flow,
  openScene,
  parameter,
  type Scene,
} from "./support/actors.ts";
import { createSeeded } from "../support/seeded.ts";
import type { Fixture } from "./support/fixture.ts";

/** The number of codes in the twin. */
const GUESSABLE = 50;

function guessOf(flowId: string, number: number): string {
  return `${flowId}.${String(number).padStart(43, "0")}`;
}

/**
 * A platform that finds the flow by `state`; the verifier is in the session that started it, or is
 * looked up anywhere.
 */
function createPlatform(fixture: Fixture, keepsVerifierIn: "session" | "database") {
  const backend = createBackend(fixture);
  const accounts = new Map<string, string>();
  const drawers = new Map<Browser | "database", Map<string, string>>();
  /** Where verifiers are stored, by `state` and as the latest. */
  const drawerOf = (browser: Browser): Map<string, string> => {
    const owner = keepsVerifierIn === "session" ? browser : "database";
    const drawer = drawers.get(owner) ?? new Map<string, string>();
    drawers.set(owner, drawer);
    return drawer;
  };
  return {
    backend,
    connect: async (account: string, browser: Browser): Promise<Flow> => {
      const flow = await backend.push();
      accounts.set(flow.state, account);
      drawerOf(browser).set(flow.state, flow.codeVerifier).set("latest", flow.codeVerifier);
      return flow;
    },
    /**
     * The browser is back.
     * @returns the account to connect, and the broker's answer
     */
    returnFromVendor: async (browser: Browser, url: URL): Promise<{ account: string | undefined; answer: Answer }> => {
      const state = parameter(url, "state");
      const codeVerifier = drawerOf(browser).get(state) ?? drawerOf(browser).get("latest");
      return { account: accounts.get(state), answer: await backend.redeem(parameter(url, "code"), codeVerifier) };
    },
  };
}

describe("X-7 (i) the victim is sent the vendor URL of the attacker's flow", () => {
  async function sendVendorUrl({ fixture, attacker, victim }: Scene) {
    // Even for a platform that checks nothing.
    const platform = createPlatform(fixture, "database");
    const flow = await platform.connect("attacker's account", attacker);
    const { url: vendorUrl } = await attacker.visit(platform.backend.startUrl(flow), awayFromBroker);
    return { platform, destination: await victim.visit(vendorUrl) };
  }

  it("bar#XA-7 X-7 is refused at the callback: the victim's code is neither stored nor redeemed", async () => {
    const harness = await openScene();
    const { destination } = await sendVendorUrl(harness);
    expectRefusalPage(destination.page, "browser_mismatch", harness.honest.codes);
    expect(harness.honest.codes).toHaveLength(1);
    expect(harness.honest.tokenRequests).toEqual([]);
  });

  it("X-7 (i) twin: without readBindingCookie the victim's tokens land in the attacker's account", async () => {
    const harness = await openScene();
    withoutBindingCookie();
    const { platform, destination } = await sendVendorUrl(harness);
    const { account, answer } = await platform.returnFromVendor(harness.victim, destination.url);
    expect([account, ownerOf(answer.body["access_token"])]).toEqual(["attacker's account", "victim"]);
  });
});

describe("X-7 (ii) the victim is sent the start URL of the attacker's flow", () => {
  async function sendStartUrl({ fixture, attacker, victim }: Scene, { victimIsBusy }: { victimIsBusy: boolean }) {
    const platform = createPlatform(fixture, "session");
    const flow = await platform.connect("attacker's account", attacker);
    if (victimIsBusy) await platform.connect("victim's account", victim);
    const destination = await victim.visit(platform.backend.startUrl(flow));
    return { platform, flow, destination, result: await platform.returnFromVendor(victim, destination.url) };
  }

  it("bar#XA-7 X-7 passes the cookie check and ends at the verifier", async () => {
    const harness = await openScene();
    const { result, flow, destination, platform } = await sendStartUrl(harness, { victimIsBusy: true });
    expect(result).toMatchObject({ account: "attacker's account", answer: { body: { error: "invalid_grant" } } });
    expect(harness.honest.tokenRequests).toEqual([]);
    // Burned: not even the attacker's own verifier opens it now.
    const late = await platform.backend.redeem(parameter(destination.url, "code"), flow.codeVerifier);
    expect(late.body).toMatchObject({ error: "invalid_grant" });
  });

  it("bar#XA-7 X-7 ends there too when the victim's session holds no verifier at all", async () => {
    const harness = await openScene();
    const { result } = await sendStartUrl(harness, { victimIsBusy: false });
    expect(result.answer).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(harness.honest.tokenRequests).toEqual([]);
  });

  it("X-7 (ii) twin: without verifyCodeVerifier the attacker has the victim's tokens", async () => {
    const harness = await openScene();
    without(pkceModule, () => ({ verifyCodeVerifier: () => undefined }));
    const { result } = await sendStartUrl(harness, { victimIsBusy: true });
    expect([result.account, ownerOf(result.answer.body["access_token"])]).toEqual(["attacker's account", "victim"]);
  });
});

describe("X-8 the attacker has the verifier, and the code is in the victim's browser", () => {
  /**
   * Guesses codes at the platform's endpoint, which calls the broker.
   * @returns what the first hit gave
   */
  async function guess({ fixture, attacker, victim }: Scene, guesses: (flowId: string) => Iterable<string>) {
    const platform = createPlatform(fixture, "session");
    const flow = await platform.connect("attacker's account", attacker);
    const { url } = await victim.visit(platform.backend.startUrl(flow));
    const answers = new Map<string, number>();
    for (const code of guesses(flow.flowId)) {
      const { status, body } = await platform.backend.redeem(code, flow.codeVerifier);
      if (status === 200) return { hit: body, answers, url, flow, platform };
      const answer = `${status} ${String(body["error"])} ${String(body["error_description"])}`;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    return { hit: undefined, answers, url, flow, platform };
  }

  it("bar#XA-7 X-8 gets one answer for every guess, which spends nothing", async () => {
    const harness = await openScene();
    const seeded = createSeeded(8);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const { hit, answers, url, flow, platform } = await guess(harness, (flowId) =>
      Array.from({ length: 200 }, () => `${flowId}.${seeded.text(alphabet, 43)}`),
    );
    expect(hit).toBeUndefined();
    expect([...answers]).toEqual([["400 invalid_grant The code is unknown, used or not yours", 200]]);
    const redeemed = await platform.backend.redeem(parameter(url, "code"), flow.codeVerifier);
    expect(redeemed.status).toBe(200);
  });

  it("bar#XA-7 X-8 gets nothing with the flow, its request_uri, other codes, or the store", async () => {
    const harness = await openScene();
    const { flow: other, url } = await harness.backend.start(harness.attacker);
    const own = parameter(url, "code");
    const { hit } = await guess(harness, (flowId) => [
      flowId,
      `${flowId}.`,
      `${flowId}.${own.split(".")[1]}`,
      `${flowId}.${other.requestUri.split(".")[1]}`,
      `${other.flowId}.${own.split(".")[1]}`.toLowerCase(),
      own.slice(0, -1),
      `${own} `,
      other.requestUri,
    ]);
    expect(hit).toBeUndefined();
  });

  it("X-8 twin: with a createHandle that makes only 50 codes the attacker finds it", async () => {
    const harness = await openScene();
    without(handleModule, ({ hashOf }) => ({
      createHandle: (flowId) => {
        const value = guessOf(flowId, GUESSABLE - 1);
        return { flowId, value, hash: hashOf(value) };
      },
    }));
    const { hit } = await guess(harness, (flowId) => Array.from({ length: GUESSABLE }, (_, n) => guessOf(flowId, n)));
    expect(ownerOf(hit?.["access_token"])).toBe("victim");
  });
});

describe("bar#ST-10 ids and codes of ours", () => {
  /** Chi-square over 64 characters has 63 degrees of freedom; above 160 once in 10^10 tries. */
  const MOST = 160;

  it.each([
    // Leaves out the last character, which carries two bits of 16 bytes and four of 32, and the
    // first of a flow id, which is never a dash. A flow id names a flow and opens nothing; what
    // does open has 256 bits of its own.
    ["flow ids", 20, () => createFlowId().slice(1)],
    ["codes", 42, () => createHandle("A".repeat(22)).value.split(".")[1] ?? ""],
  ] as const)("%s are spread evenly and never repeat", (_what, length, create) => {
    const counts = Array.from({ length }, () => new Map<string, number>());
    const seen = new Set<string>();
    const tries = volume({ test: 4_000, soak: 40_000 });
    for (let made = 0; made < tries; made += 1) {
      const id = create();
      seen.add(id);
      for (const [position, count] of counts.entries()) {
        const character = id.charAt(position);
        count.set(character, (count.get(character) ?? 0) + 1);
      }
    }
    expect(seen.size).toBe(tries);
    const expected = tries / 64;
    for (const count of counts) {
      const sum = [...count.values()].reduce((total, observed) => total + (observed - expected) ** 2 / expected, 0);
      expect(sum + (64 - count.size) * expected).toBeLessThan(MOST);
    }
  });

  it("reveal nothing of time, user or order", async () => {
    const { backend, victim } = await openScene();
    const one = await backend.push();
    const two = await backend.push();
    const shared = Array.from(one.flowId).filter((character, position) => character === two.flowId[position]);
    expect(shared.length).toBeLessThan(8);
    await victim.visit(backend.startUrl(one));
    expect(`${one.flowId}${two.flowId}`).not.toMatch(/platform|victim|1700000000/);
  });
});
