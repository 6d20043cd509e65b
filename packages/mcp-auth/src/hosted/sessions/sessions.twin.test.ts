/** The twins of session-attacks.test.ts: with one defence off, the attack succeeds. */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { SAME, startSession, testSessions, WHO } from "../../testing/test-sessions.ts";
import * as issued from "./issued-token.ts";
import * as record from "./record.ts";

describe("with a defence off", () => {
  it("without the tag an attacker who knows its id ends a session (twin of bar#AS-14)", async () => {
    weaken(issued, () => ({ isTokenTag: () => true }));
    const { sessions, session, tokens } = await startSession();
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    const forged = `mcp_rt_${Buffer.concat([Buffer.from(session.id, "base64url"), Buffer.alloc(50)]).toString("base64url")}`;
    await expect(sessions.refresh(forged, SAME)).rejects.toThrow("invalid_grant");
    expect(await sessions.identify(second.accessToken)).toBeUndefined();
  });

  it("without the tag another server's access token is good here (twin of bar#RS-2)", async () => {
    weaken(issued, () => ({ isTokenTag: () => true }));
    const { sessions, again } = testSessions();
    const elsewhere = again({ audience: "https://other.example/mcp" });
    const { tokens } = await elsewhere.start(WHO);
    expect(await sessions.identify(tokens.accessToken)).toMatchObject({ user: WHO.user });
  });

  it("without generations a spent refresh token keeps working (twin of rfc9700#4.14.2)", async () => {
    weaken(record, () => ({ standingOf: () => "current" }));
    const { sessions, clock, tokens } = await startSession();
    let stolen = await sessions.refresh(tokens.refreshToken, SAME);
    for (let count = 0; count < 3; count += 1) {
      clock.advance(3600);
      stolen = await sessions.refresh(tokens.refreshToken, SAME);
      expect(await sessions.identify(stolen.accessToken)).toMatchObject({ user: WHO.user });
    }
  });
});
