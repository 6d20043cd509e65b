/**
 * The twins of session-scopes.test.ts and sessions/linking-sessions.test.ts: with one defence off,
 * a session gets what its user did not consent to.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as Scope from "../link-policy/scope.ts";

beforeEach(() => {
  vi.resetModules();
});
afterEach(() => {
  vi.doUnmock("../link-policy/scope.ts");
});

function weaken(change: Partial<typeof Scope>): void {
  vi.doMock("../link-policy/scope.ts", async (original) => ({ ...(await original<typeof Scope>()), ...change }));
}

describe("with a defence off", () => {
  it("a vendor that grants more widens the session beyond the consent page (twin of rfc6749#3.3)", async () => {
    weaken({
      grantedSessionScope: (granted, consented) => [
        ...new Set([...consented, ...granted.map((scope) => `main:${scope}`)]),
      ],
    });
    const { openStubLinkingFixture } = await import("../../testing/linking/stub-linking.ts");
    await using fixture = await openStubLinkingFixture();
    const { body } = await fixture.connect({ scope: "main:read chat:post" });
    expect(body["scope"]).toContain("main:write");
  });

  it("a scope of the only vendor becomes one of another vendor, of which no user was asked", async () => {
    weaken({ prefixScopes: (scopes) => scopes });
    const { sessionsOfSeveral } = await import("../link-policy/link-policy.ts");
    const { SAME, testSessions, WHO } = await import("../../testing/test-sessions.ts");
    const { sessions, again } = testSessions();
    const { tokens } = await sessions.start({ ...WHO, scope: ["chat:post"] });
    const after = again({ links: sessionsOfSeveral({ signIn: "main", sessionMaxSeconds: 86_400 }) });
    const { scopesOfVendor } = await import("../link-policy/scope.ts");
    const { scope = [] } = (await after.identify(tokens.accessToken)) ?? {};
    expect(scopesOfVendor(scope, "chat")).toEqual(["post"]);
    expect((await after.refresh(tokens.refreshToken, SAME)).scope).toEqual(["chat:post"]);
  });
});
