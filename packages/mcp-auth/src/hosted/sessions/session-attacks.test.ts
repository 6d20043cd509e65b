/** Attacks with the tokens of a session. The twins are in sessions.twin.test.ts. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { putBack, rowOf } from "../../testing/record-stores.ts";
import { SAME, startSession, testServerKey, testSessions, WHO } from "../../testing/test-sessions.ts";

const INVALID_GRANT = expect.objectContaining({ code: "invalid_grant", description: "The refresh token is not valid" });
const INVALID_SCOPE = expect.objectContaining({ code: "invalid_scope" });
const OUTAGE = new OAuthError("temporarily_unavailable", "The record store does not answer");

describe("a refresh token", () => {
  it("bar#AS-14 used again within 30 s: the same answer, with the time that is left", async () => {
    const { sessions, again, clock, tokens } = await startSession();
    const answer = await sessions.refresh(tokens.refreshToken, SAME);
    clock.advance(30);
    expect(await again().refresh(tokens.refreshToken, SAME)).toEqual({ ...answer, expiresInSeconds: 3570 });
    // A call with the new access token spends nothing: another process of the client may be late.
    expect(await sessions.identify(answer.accessToken)).toBeDefined();
    expect(await sessions.refresh(tokens.refreshToken, SAME)).toEqual({ ...answer, expiresInSeconds: 3570 });
    await expect(sessions.refresh(answer.refreshToken, SAME)).resolves.toBeDefined();
  });

  it("rfc9700#4.14.2 bar#AS-14 used again after 31 s is refused, and the session ends", async () => {
    const { sessions, clock, tokens } = await startSession();
    const other = await sessions.start(WHO);
    const answer = await sessions.refresh(tokens.refreshToken, SAME);
    clock.advance(31);
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    await expect(sessions.refresh(answer.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.identify(answer.accessToken)).toBeUndefined();
    expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
    // Another session of the user is another family.
    expect(await sessions.identify(other.tokens.accessToken)).toBeDefined();
  });

  it("bar#AS-14 whose successor was used is an ancestor at once: refused, and the session ends", async () => {
    const { sessions, tokens } = await startSession();
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    const third = await sessions.refresh(second.refreshToken, SAME);
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.identify(third.accessToken)).toBeUndefined();
    await expect(sessions.refresh(third.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
  });

  it("bar#AS-14 from many refreshes ago ends the session as well", async () => {
    const { sessions, clock } = testSessions();
    const first = await sessions.start(WHO);
    let { tokens } = first;
    for (let count = 0; count < 20; count += 1) {
      clock.advance(3600);
      tokens = await sessions.refresh(tokens.refreshToken, SAME);
    }
    expect(await sessions.find(first.tokens.refreshToken)).toEqual(first.session);
    await expect(sessions.refresh(first.tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
  });

  it("bar#AS-14 from another client is refused and ends nothing, however old the token is", async () => {
    const { sessions, clock, tokens } = await startSession();
    const other = { clientId: "another", scope: undefined };
    await expect(sessions.refresh(tokens.refreshToken, other)).rejects.toThrow(INVALID_GRANT);
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    clock.advance(31);
    await expect(sessions.refresh(tokens.refreshToken, other)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.identify(second.accessToken)).toBeDefined();
    await expect(sessions.refresh(second.refreshToken, SAME)).resolves.toBeDefined();
  });

  it("rfc6749#6 bar#AS-14 with a wider scope: invalid_scope, and nothing is spent", async () => {
    const { sessions, tokens } = await startSession();
    const wider = { clientId: "platform", scope: ["read", "admin"] };
    await expect(sessions.refresh(tokens.refreshToken, wider)).rejects.toThrow(INVALID_SCOPE);
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    await expect(sessions.refresh(tokens.refreshToken, wider)).rejects.toThrow(INVALID_SCOPE);
    await expect(sessions.refresh(second.refreshToken, SAME)).resolves.toBeDefined();
  });

  it("rfc6749#6 with less scope gives an access token with less, and keeps what was granted", async () => {
    const { sessions, tokens } = await startSession();
    const less = await sessions.refresh(tokens.refreshToken, { clientId: "platform", scope: ["read"] });
    expect(less.scope).toEqual(["read"]);
    expect(await sessions.identify(less.accessToken)).toMatchObject({ scope: ["read"] });
    expect(await sessions.find(less.refreshToken)).toMatchObject({ scope: ["read", "write"] });
    const all = await sessions.refresh(less.refreshToken, { clientId: "platform", scope: [] });
    expect(all.scope).toEqual(["read", "write"]);
    expect(await sessions.identify(all.accessToken)).toMatchObject({ scope: ["read", "write"] });
    expect(await sessions.identify(less.accessToken)).toMatchObject({ scope: ["read"] });
  });

  it("bar#AS-14 bar#RF-8 cannot be obtained for an access token, and the attempt ends nothing", async () => {
    const { sessions, calls, tokens } = await startSession();
    const before = calls();
    for (const token of [tokens.accessToken, tokens.accessToken.replace("mcp_at_", "mcp_rt_"), "", "junk"]) {
      await expect(sessions.refresh(token, SAME)).rejects.toThrow(INVALID_GRANT);
      expect(await sessions.find(token)).toBeUndefined();
    }
    expect(calls()).toBe(before);
    expect(await sessions.identify(tokens.accessToken)).toBeDefined();
  });

  it("bar#AS-14 forged by an attacker who knows the session id ends nothing, and costs no read", async () => {
    const { sessions, calls, session, tokens } = await startSession();
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    const before = calls();
    const forged = forgedFor(session.id);
    await expect(sessions.refresh(forged, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.revoke(forged, "platform")).toBeUndefined();
    expect(calls()).toBe(before);
    expect(await sessions.identify(second.accessToken)).toBeDefined();
  });

  it("bar#AS-14 during an outage: 503, nothing is spent and nothing ends", async () => {
    const { sessions, fail, clock, tokens } = await startSession();
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    clock.advance(31);
    fail(OUTAGE);
    await expect(sessions.refresh(second.refreshToken, SAME)).rejects.toThrow(OUTAGE);
    await expect(sessions.identify(second.accessToken)).rejects.toThrow(OUTAGE);
    await expect(sessions.revoke(second.refreshToken, "platform")).rejects.toThrow(OUTAGE);
    fail(undefined);
    expect(await sessions.identify(second.accessToken)).toBeDefined();
    await expect(sessions.refresh(second.refreshToken, SAME)).resolves.toBeDefined();
  });

  it("that a session never issued, as after a store was restored, is refused and ends nothing", async () => {
    const { sessions, records, session, tokens } = await startSession();
    const row = await rowOf(records, { kind: "session", id: session.id });
    const lost = await sessions.refresh(tokens.refreshToken, SAME);
    await putBack(records, row);
    await expect(sessions.refresh(lost.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.find(lost.refreshToken)).toBeUndefined();
    await expect(sessions.refresh(tokens.refreshToken, SAME)).resolves.toBeDefined();
  });

  it("that is used while its session ends does not bring it back", async () => {
    const { sessions } = testSessions();
    for (let round = 0; round < 50; round += 1) {
      const { session, tokens } = await sessions.start({ ...WHO, user: `u${round}` });
      const [refreshed] = await Promise.allSettled([
        sessions.refresh(tokens.refreshToken, SAME),
        sessions.end(session.id),
      ]);
      if (refreshed.status === "rejected") expect(refreshed.reason).toEqual(INVALID_GRANT);
      else expect(await sessions.identify(refreshed.value.accessToken)).toBeUndefined();
      expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
    }
  });
});

describe("an access token", () => {
  it("bar#RS-2 is an access token of this server, and no other token", async () => {
    const { sessions, again, calls, clock, tokens } = await startSession();
    const [elsewhere, stranger] = [
      again({ audience: "https://other.example/mcp" }),
      again({ serverKey: testServerKey(clock) }),
    ];
    const foreign = await elsewhere.start(WHO);
    const before = calls();
    for (const token of [
      tokens.refreshToken,
      tokens.refreshToken.replace("mcp_rt_", "mcp_at_"),
      foreign.tokens.accessToken,
      "gho_16C7e42F292c6912E7710c838347Ae178B4a",
      "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
      "",
      "A".repeat(100_000),
    ]) {
      expect(await sessions.identify(token)).toBeUndefined();
    }
    expect(await elsewhere.identify(tokens.accessToken)).toBeUndefined();
    expect(await stranger.identify(tokens.accessToken)).toBeUndefined();
    // None of these needed the store.
    expect(calls()).toBe(before);
  });

  it("bar#RS-2 with a foreign format is refused without the key; ours is an outage", async () => {
    const { again } = testSessions();
    const { tokens } = await testSessions().sessions.start(WHO);
    const sessions = again({ serverKey: { derive: () => Promise.reject(OUTAGE) } });
    expect(await sessions.identify("gho_16C7e42F292c6912E7710c838347Ae178B4a")).toBeUndefined();
    await expect(sessions.identify(tokens.accessToken)).rejects.toThrow(OUTAGE);
  });
});

/** A refresh token of generation 0 for a session, forged without the server's key. */
function forgedFor(sessionId: string): string {
  const id = Buffer.from(sessionId, "base64url");
  return `mcp_rt_${Buffer.concat([id, Buffer.alloc(66 - id.length)]).toString("base64url")}`;
}
