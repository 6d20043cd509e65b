/**
 * Attacker: an outsider who can open any of our URLs in any browser. Goal: the callback accepts a
 * forged state. Defence: the state is signed and compared in its one spelling (isSameText).
 * Replayed states: single-use.attack.test.ts.
 */
import * as secretModule from "../../packages/oauth-core/src/protocol/secret.ts";
import * as keptModule from "../../packages/oauth-core/src/vendor-client/kept.ts";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it, vi } from "vitest";
import { stateForgeries, validState } from "../../packages/oauth-core/src/testing/corpora/state-corpus.ts";
import { expectRefusalPage, without } from "./support/outcomes.ts";
import { atCallback, locationOf, openAtCallback, parameter, recordOf, type SceneAtCallback } from "./support/actors.ts";
import { CUT, openWire } from "./support/wire.ts";
import { CALLBACK, type Exchange, FORM, HONEST, NOW } from "./support/names.ts";

/** The flow and the context that every state of the corpus names. */
const CORPUS_FLOW = "Zm9vYmFyYmF6cXV4Zm9vYg";
const CORPUS_CONTEXT = "Y29udGV4dA";

/**
 * A second flow of the same browser, under the id of the corpus.
 * @returns its cookie
 */
async function corpusFlow({ fixture, victim, flow }: SceneAtCallback): Promise<string> {
  const started = await recordOf(fixture, flow);
  if (started === undefined) throw new Error("the flow is gone");
  const { stage, expiresAt, data } = started;
  const key = { kind: "flow", id: CORPUS_FLOW } as const;
  await fixture.broker.deps.records.create({ key, stage, expiresAt, data: { ...data, contextHash: CORPUS_CONTEXT } });
  const name = `__Host-flow-${flow.flowId}`;
  return `__Host-flow-${CORPUS_FLOW}=${victim.jar.get(new URL(CALLBACK), name)}`;
}

/** Node itself ends a request whose head is too long. */
const HEAD_TOO_LONG = 15_000;

describe("bar#CB-1 a state that was not made here", () => {
  it("is refused in all its shapes, by GET and POST: nothing sent, stored or shown", async () => {
    // Not the tested defence: the states of the corpus name their own context, and only the state
    // itself must be refused. From the beginning: the broker keeps a client's choice of a vendor, and
    // its context with it.
    weaken(keptModule, () => ({ flowContextHash: () => CORPUS_CONTEXT }));
    const harness = await openAtCallback();
    const { fixture } = harness;
    const cookie = await corpusFlow(harness);
    const wire = await openWire(fixture);
    const { kid, key } = fixture.broker.deps.keyset.active("state");
    const target = { kid, key, audience: CALLBACK, now: NOW };
    const records = vi.spyOn(fixture.broker.deps.records, "advance");
    const created = vi.spyOn(fixture.broker.deps.records, "create");
    const asked = fixture.outbound.length;

    const get = async (query: string): Promise<Exchange> =>
      wire.send({ path: `/v1/callback?${query}`, headers: { cookie } });
    const post = async (body: string): Promise<Exchange> => {
      const headers = { ...FORM, origin: HONEST };
      const answer = await wire.send({ method: "POST", path: "/v1/callback", headers, body });
      // A form_post is redirected to our GET; a refused one is not redirected at all.
      const location = answer.headers.get("location");
      if (location === null) return answer;
      expect(location).toMatch(/^\/v1\/callback\?/);
      return wire.send({ path: location, headers: { cookie } });
    };
    const wrong: string[] = [];
    // protocol/state.test.ts has them all.
    const forgeries = stateForgeries(target).filter((_, index) => index % 4 === 0);
    for (const { name, state } of forgeries) {
      const query = new URLSearchParams({ state, code: "attackers-code", iss: HONEST }).toString();
      const raw = /^[\x21-\x7e]+$/.test(state) && !/[%+&#]/.test(state) ? [`state=${state}&code=attackers-code`] : [];
      for (const answer of [await get(query), await post(query), ...(await Promise.all(raw.map(get)))]) {
        if (!isRefused(answer, state, query.length)) wrong.push(`${name}: ${answer.status}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(forgeries.length).toBeGreaterThan(75);
    expect(records).not.toHaveBeenCalled();
    expect(created).not.toHaveBeenCalled();
    expect(fixture.outbound.length).toBe(asked);

    // The valid state they were all derived from is accepted: nothing else was wrong with them.
    const valid = new URLSearchParams({ state: validState(target), code: "c", iss: HONEST });
    const accepted = await get(valid.toString());
    expect([accepted.status, locationOf(accepted).origin]).toEqual([303, "https://platform.example"]);
  });

  it("is refused when it is missing, empty or there twice", async () => {
    const { fixture, url, victim } = await openAtCallback();
    const [state, code] = [parameter(url, "state"), parameter(url, "code")];
    const cookie = victim.jar.header(url) ?? "";
    const without = ["", `code=${code}`, `state=&code=${code}`, `state&code=${code}`, "error=access_denied"];
    for (const query of [...without, `iss=${url.origin}`]) {
      const answer = await fixture.request(`/v1/callback?${query}`, { headers: { cookie } });
      expectRefusalPage(answer, "state_missing", [code]);
    }
    const twice = ["state=${}&state=${}", "state=${}&state=", "state=&state=${}", "state=x&st%61te=${}"];
    for (const query of twice.map((form) => form.replaceAll("${}", state))) {
      const answer = await fixture.request(`/v1/callback?${query}&code=${code}`, { headers: { cookie } });
      expectRefusalPage(answer, "invalid_request", [code, state]);
    }
    expect((await victim.visit(url)).page).toBeUndefined();
  });

  it("bar#CB-2 is refused as a bare id, an unsigned object, or a session", async () => {
    const { fixture, url, flow, victim } = await openAtCallback();
    const cookie = victim.jar.header(url) ?? "";
    const [header = "", payload = ""] = parameter(url, "state").split(".");
    const claims = Buffer.from(payload, "base64url").toString();
    const legacy = [
      flow.flowId,
      flow.state,
      flow.requestUri,
      cookie,
      claims,
      payload,
      Buffer.from(claims).toString("base64"),
      `${header}.${payload}`,
      `${header}.${payload}.`,
      JSON.stringify({ flow: flow.flowId, redirect: "https://platform.example/oauth/back" }),
    ];
    for (const state of legacy) {
      const query = new URLSearchParams({ state, code: "attackers-code" }).toString();
      const answer = await fixture.request(`/v1/callback?${query}`, { headers: { cookie } });
      expectRefusalPage(answer, "state_invalid", [state]);
    }
    expect((await victim.visit(url)).page).toBeUndefined();
  });

  /**
   * Flow ids are public, and key id and context stand in the attacker's own state: only the key is
   * missing.
   */
  async function forgeFor({ backend, attacker, url, flow, victim }: SceneAtCallback) {
    const { url: own } = await backend.start(attacker, atCallback);
    const [header = "", payload = ""] = parameter(own, "state").split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, jti: flow.flowId })).toString("base64url");
    const link = new URL(url);
    link.searchParams.set("state", `${header}.${forged}.${"A".repeat(43)}`);
    link.searchParams.set("code", parameter(own, "code"));
    return victim.visit(link);
  }

  it("is refused when it names the victim's own flow, in the victim's own browser", async () => {
    expectRefusalPage((await forgeFor(await openAtCallback())).page, "state_invalid");
  });

  it("bar#CB-1 twin: without isSameText the attacker's code enters the victim's flow", async () => {
    const harness = await openAtCallback();
    without(secretModule, () => ({ isSameText: () => true }));
    const { url, page } = await forgeFor(harness);
    expect(page).toBeUndefined();
    expect(parameter(url, "state")).toBe(harness.flow.state);
  });
});

function isRefused(answer: Exchange, state: string, length: number): boolean {
  if (answer.headers.get("location") !== null || answer.headers.getSetCookie().length > 0) return false;
  if (length > HEAD_TOO_LONG && [431, 413, CUT].includes(answer.status)) return true;
  const isPage = answer.status === 400 && answer.headers.get("cache-control") === "no-store";
  // `null`, `true` and the like are words that a page may contain.
  return isPage && (state.length < 6 || !answer.body.includes(state)) && !answer.body.includes("attackers-code");
}
