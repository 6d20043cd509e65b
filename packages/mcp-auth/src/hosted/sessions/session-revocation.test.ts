/** Which requests can end a session, and what its record reveals. */
import { open } from "@oauth-broker/token-store";
import { describe, expect, it } from "vitest";
import { SAME, startSession, WHO } from "../../testing/test-sessions.ts";

describe("a revocation", () => {
  it("bar#AS-21 by another client, or of an invalid token, has no effect", async () => {
    const { sessions, tokens } = await startSession();
    for (const token of [tokens.accessToken, tokens.refreshToken]) {
      expect(await sessions.revoke(token, "another")).toBeUndefined();
    }
    for (const token of ["", "junk", `mcp_rt_${"A".repeat(88)}`]) {
      expect(await sessions.revoke(token, "platform")).toBeUndefined();
    }
    expect(await sessions.identify(tokens.accessToken)).toBeDefined();
  });

  it("bar#AS-21 with an expired access token has no effect: logs have such tokens", async () => {
    const { sessions, clock, tokens } = await startSession();
    clock.advance(3600);
    expect(await sessions.revoke(tokens.accessToken, "platform")).toBeUndefined();
    expect(await sessions.find(tokens.refreshToken)).toBeDefined();
  });

  it("with the previous refresh token ends the session: a client lost an answer", async () => {
    const { sessions, clock, tokens } = await startSession();
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    clock.advance(3000);
    expect(await sessions.revoke(tokens.refreshToken, "platform")).toEqual({ user: WHO.user, wasLast: true });
    expect(await sessions.identify(second.accessToken)).toBeUndefined();
  });
});

describe("the record", () => {
  it("does not reveal the response of a refresh to a holder of the store and the server key", async () => {
    const { sessions, records, serverKey, session, tokens } = await startSession();
    await sessions.refresh(tokens.refreshToken, SAME);
    const record = await records.get({ kind: "session", id: session.id });
    const previous = record?.data["previous"] as { readonly sealed: string };
    for (const purpose of [
      "token-tag",
      "record-mac",
      "user-sessions",
      "sign-in",
      "vendor-pkce",
      "vendor-nonce",
    ] as const) {
      const key = await serverKey.derive(purpose);
      expect(() => open(key, previous.sealed, ["session", session.id])).toThrow("another key");
    }
  });

  it("of a format that is not known is an outage, not the end of a session", async () => {
    const { sessions, authenticated, session, tokens } = await startSession();
    await authenticated.advance(
      { kind: "session", id: session.id },
      { stage: "live", expect: {} },
      { stage: "later", set: { v: 3 } },
    );
    const unavailable = expect.objectContaining({ code: "temporarily_unavailable" });
    await expect(sessions.identify(tokens.accessToken)).rejects.toThrow(unavailable);
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(unavailable);
  });
});
