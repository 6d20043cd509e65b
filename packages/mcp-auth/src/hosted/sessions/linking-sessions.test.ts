/** Sessions with `VENDORS`: how long they last, and whose scopes those from before are. */
import { describe, expect, it } from "vitest";
import { NOW, SAME, testSessions, WHO } from "../../testing/test-sessions.ts";
import { REFRESH_TOKEN_LIFETIME_SECONDS } from "./record.ts";
import { sessionsOfSeveral } from "../link-policy/link-policy.ts";

const DAY = 86_400;
const LINKING = { signIn: "main", sessionMaxSeconds: 40 * DAY };
const PREFIXED = { ...WHO, scope: ["main:read", "slack:chat:write"] };

const linkingSessions = (changes: Partial<typeof LINKING> = {}) => {
  const { again, clock } = testSessions();
  return { sessions: again({ links: sessionsOfSeveral({ ...LINKING, ...changes }) }), again, clock };
};

const refused = expect.objectContaining({ code: "invalid_grant" });

describe("a session ends", () => {
  it("that long after its sign-in, however often it is refreshed", async () => {
    const { sessions, clock } = linkingSessions();
    let { tokens } = await sessions.start(PREFIXED);
    for (let day = 20; day < 40; day += 19) {
      clock.advance(NOW + day * DAY - clock());
      tokens = await sessions.refresh(tokens.refreshToken, SAME);
    }
    clock.advance(NOW + 40 * DAY - 1 - clock());
    tokens = await sessions.refresh(tokens.refreshToken, SAME);
    expect(await sessions.identify(tokens.accessToken)).toMatchObject({ user: WHO.user });
    clock.advance(NOW + 40 * DAY - clock());
    expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
    expect(await sessions.find(tokens.refreshToken)).toBeUndefined();
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toEqual(refused);
  });

  it("and no access token outlives it, not even one of its last second", async () => {
    const { sessions, clock } = linkingSessions();
    const { tokens } = await sessions.start(PREFIXED);
    expect(tokens.expiresInSeconds).toBe(3600);
    clock.advance(NOW + 25 * DAY - clock());
    const second = await sessions.refresh(tokens.refreshToken, SAME);
    clock.advance(NOW + 40 * DAY - 90 - clock());
    const last = await sessions.refresh(second.refreshToken, SAME);
    expect(last.expiresInSeconds).toBe(90);
    expect(await sessions.identify(last.accessToken)).toMatchObject({ expiresAt: NOW + 40 * DAY });
  });

  it("sooner where the operator has shortened it since", async () => {
    const { sessions, again, clock } = linkingSessions();
    const { tokens } = await sessions.start(PREFIXED);
    clock.advance(NOW + 600 - clock());
    const shortened = again({ links: sessionsOfSeveral({ ...LINKING, sessionMaxSeconds: 1_200 }) });
    expect(await shortened.identify(tokens.accessToken)).toMatchObject({ expiresAt: NOW + 1_200 });
    clock.advance(NOW + 1_200 - clock());
    expect(await shortened.identify(tokens.accessToken)).toBeUndefined();
    await expect(shortened.refresh(tokens.refreshToken, SAME)).rejects.toEqual(refused);
  });

  it("when it is not used, as with one vendor", async () => {
    const { sessions, clock } = linkingSessions({ sessionMaxSeconds: 300 * DAY });
    const { tokens } = await sessions.start(PREFIXED);
    clock.advance(NOW + REFRESH_TOKEN_LIFETIME_SECONDS - clock());
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toEqual(refused);
  });

  it("and does not count as one of its user's then", async () => {
    const { sessions, clock } = linkingSessions();
    const first = await sessions.start(PREFIXED);
    clock.advance(NOW + 30 * DAY - 1 - clock());
    const { refreshToken } = await sessions.refresh(first.tokens.refreshToken, SAME);
    const { tokens } = await sessions.start({ ...PREFIXED, clientId: "other" });
    clock.advance(NOW + 40 * DAY - clock());
    expect(await sessions.find(refreshToken)).toBeUndefined();
    expect(await sessions.revoke(tokens.refreshToken, "other")).toEqual({ user: WHO.user, wasLast: true });
  });
});

describe("a session from before VENDORS", () => {
  // Its vendor has a scope that reads like one of a vendor called `read`.
  const BEFORE = { ...WHO, scope: ["read:user", "repo"] };
  const startBefore = async () => {
    const { sessions, again } = testSessions();
    const { tokens } = await sessions.start(BEFORE);
    return { sessions, tokens, after: again({ links: sessionsOfSeveral(LINKING) }) };
  };

  it("counts as one of the sign-in vendor, and its tokens stay good", async () => {
    const { tokens, after } = await startBefore();
    expect(await after.identify(tokens.accessToken)).toMatchObject({ scope: ["main:read:user", "main:repo"] });
    const refreshed = await after.refresh(tokens.refreshToken, SAME);
    expect(refreshed.scope).toEqual(["main:read:user", "main:repo"]);
    expect(await after.identify(refreshed.accessToken)).toMatchObject({ scope: refreshed.scope });
  });

  it("may be narrowed in the old words and in the new", async () => {
    const { tokens, after } = await startBefore();
    let { refreshToken } = tokens;
    for (const scope of [["repo"], ["main:repo"]]) {
      const refreshed = await after.refresh(refreshToken, { ...SAME, scope });
      expect(refreshed.scope).toEqual(["main:repo"]);
      expect(await after.identify(refreshed.accessToken)).toMatchObject({ scope: ["main:repo"] });
      ({ refreshToken } = refreshed);
    }
  });

  it("gets no scope of another vendor, whatever its scopes read like", async () => {
    const { tokens, after } = await startBefore();
    const { scope = [] } = (await after.identify(tokens.accessToken)) ?? {};
    expect(scope.every((token) => token.startsWith("main:"))).toBe(true);
    // `read:user` is the sign-in vendor's own, not the scope `user` of a vendor `read`.
    const narrowed = await after.refresh(tokens.refreshToken, { ...SAME, scope: ["read:user"] });
    expect(narrowed.scope).toEqual(["main:read:user"]);
    await expect(after.refresh(narrowed.refreshToken, { ...SAME, scope: ["slack:chat:write"] })).rejects.toEqual(
      expect.objectContaining({ code: "invalid_scope" }),
    );
  });

  it("is as it was for a server that goes back to VENDOR", async () => {
    const { sessions, tokens, after } = await startBefore();
    const { refreshToken } = await after.refresh(tokens.refreshToken, { ...SAME, scope: ["repo"] });
    const back = await sessions.refresh(refreshToken, SAME);
    expect(back.scope).toEqual(BEFORE.scope);
    expect(await sessions.identify(back.accessToken)).toMatchObject({ scope: BEFORE.scope });
  });
});

it("a session begun with VENDORS is none with VENDOR: its scopes are not the vendor's own", async () => {
  const { sessions, again } = testSessions();
  const { tokens } = await again({ links: sessionsOfSeveral(LINKING) }).start(PREFIXED);
  expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
  await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toEqual(refused);
});

it("rfc6749#6 a refresh with VENDORS widens nothing and mixes no scopes", async () => {
  const { sessions } = linkingSessions();
  const { tokens } = await sessions.start({ ...WHO, scope: ["main:slack:chat:write", "main:read"] });
  for (const scope of [["slack:chat:write"], ["read"], ["main:write"], ["main:read", "slack:read"]]) {
    await expect(sessions.refresh(tokens.refreshToken, { ...SAME, scope })).rejects.toEqual(
      expect.objectContaining({ code: "invalid_scope" }),
    );
  }
  const narrowed = await sessions.refresh(tokens.refreshToken, { ...SAME, scope: ["main:read"] });
  expect(await sessions.identify(narrowed.accessToken)).toMatchObject({ scope: ["main:read"] });
});
