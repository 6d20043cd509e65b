/**
 * The twins of session-scopes.test.ts and sessions/linking-sessions.test.ts: with one defence off,
 * a session gets what its user did not consent to.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { openStubLinkingFixture } from "../../testing/linking/stub-linking.ts";
import { SAME, testSessions, WHO } from "../../testing/test-sessions.ts";
import { sessionsOfSeveral } from "../link-policy/link-policy.ts";
import * as scopes from "../link-policy/scope.ts";

describe("with a defence off", () => {
  it("a vendor that grants more widens the session beyond the consent page (twin of rfc6749#3.3)", async () => {
    weaken(scopes, () => ({
      grantedSessionScope: (granted, consented) => [
        ...new Set([...consented, ...granted.map((scope) => `main:${scope}`)]),
      ],
    }));
    await using fixture = await openStubLinkingFixture();
    const { body } = await fixture.connect({ scope: "main:read chat:post" });
    expect(body["scope"]).toContain("main:write");
  });

  it("a scope of the only vendor becomes one of another vendor, of which no user was asked", async () => {
    weaken(scopes, () => ({ prefixScopes: (names) => names }));
    const { sessions, again } = testSessions();
    const { tokens } = await sessions.start({ ...WHO, scope: ["chat:post"] });
    const after = again({ links: sessionsOfSeveral({ signIn: "main", sessionMaxSeconds: 86_400 }) });
    const { scope = [] } = (await after.identify(tokens.accessToken)) ?? {};
    expect(scopes.scopesOfVendor(scope, "chat")).toEqual(["post"]);
    expect((await after.refresh(tokens.refreshToken, SAME)).scope).toEqual(["chat:post"]);
  });
});
