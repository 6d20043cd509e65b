import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { BrokerClientError } from "./error.ts";
import { requireContext, requireSession, requireState, type Session, SESSION_SECONDS } from "./session.ts";
import { createSpentSessions } from "./spent-sessions.ts";

const now = fixedClock(1_700_000_000);
const owner = { clientId: "platform", redirectUri: "https://platform.example/oauth/callback" };
const session: Session = {
  v: 1,
  context: "https://broker.example",
  ...owner,
  state: "state-of-this-user",
  codeVerifier: "v".repeat(43),
  expiresAt: now() + SESSION_SECONDS,
};

function refusal(reason: string): unknown {
  return expect.objectContaining({ code: "invalid_session", details: { reason } });
}

describe("a session", () => {
  it("is accepted as returned by start, until the second it expires", () => {
    expect(requireSession(session, owner, now)).toBe(session);
    const at = (seconds: number) => () => now() + seconds;
    expect(requireSession(session, owner, at(SESSION_SECONDS - 1))).toBe(session);
    expect(() => requireSession(session, owner, at(SESSION_SECONDS))).toThrow(refusal("expired"));
  });

  it("bar#XA-7 is this user's: without one, or with another state, nothing finishes", () => {
    for (const none of [undefined, null]) {
      expect(() => requireSession(none, owner, now)).toThrow(refusal("missing"));
    }
    for (const state of ["state-of-another", "", undefined, `${session.state} `, session.state.toUpperCase()]) {
      expect(() => requireState(session, state)).toThrow(refusal("state_mismatch"));
    }
    expect(() => requireState(session, session.state)).not.toThrow();
  });

  it("is bound to one client, one redirect URI, and one issuer", () => {
    for (const change of [{ clientId: "other" }, { redirectUri: `${owner.redirectUri}/` }]) {
      expect(() => requireSession({ ...session, ...change }, owner, now)).toThrow(refusal("other_client"));
    }
    expect(() => requireContext(session, "https://other.example")).toThrow(refusal("other_client"));
  });

  it.each<[string, unknown]>([
    ["text", "session"],
    ["nothing", {}],
    ["another version", { ...session, v: 2 }],
    ["no state", { ...session, state: undefined }],
    ["an empty state", { ...session, state: "" }],
    ["a verifier that is no text", { ...session, codeVerifier: 1 }],
    ["an empty verifier", { ...session, codeVerifier: "" }],
    ["no end", { ...session, expiresAt: undefined }],
    ["an end that is text", { ...session, expiresAt: "9999999999" }],
    ["a list", [session]],
  ])("that holds %s is refused", (_what, bad) => {
    expect(() => requireSession(bad, owner, now)).toThrow(refusal("malformed"));
  });
});

describe("used sessions", () => {
  const fail = (code: string, details = {}) => new BrokerClientError(code, "", details);
  const asIs = (error: unknown) => error as BrokerClientError;

  it("bar#XA-8 finish once, whatever the outcome, except an outage that spent nothing", async () => {
    const outage = fail("temporarily_unavailable");
    const once = createSpentSessions(now, asIs);
    const finish = (error?: BrokerClientError) =>
      once(session, async () => (error === undefined ? "tokens" : Promise.reject(error)));
    await expect(finish(outage)).rejects.toBe(outage);
    const lost = fail("temporarily_unavailable", { retry: "restart" });
    await expect(finish(lost)).rejects.toBe(lost);
    await expect(finish()).rejects.toMatchObject({ details: { reason: "used" } });
  });

  it("are remembered while they could be used, and no longer", async () => {
    const clock = fixedClock(1_700_000_000);
    const once = createSpentSessions(clock, asIs);
    const finish = (state: string) => once({ ...session, state }, async () => state);
    expect(await finish("one")).toBe("one");
    await expect(finish("one")).rejects.toMatchObject({ details: { reason: "used" } });
    clock.advance(SESSION_SECONDS);
    expect(await finish("one")).toBe("one");
  });
});
