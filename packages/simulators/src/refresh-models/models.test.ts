import { describe, expect, it } from "vitest";
import { createModel, type IssuedTokens, type ModelOptions, type ModelState } from "./models.ts";

const START = 1_700_000_000;

function setUp(options: Omit<ModelOptions, "now">): {
  state: ModelState;
  first: IssuedTokens & { refreshToken: string };
  pass(seconds: number): void;
} {
  let now = START;
  const state = createModel({ ...options, now: () => now });
  return { state, first: state.authorize("u1"), pass: (seconds) => void (now += seconds) };
}

function refreshed(state: ModelState, refreshToken: string): IssuedTokens & { refreshToken: string } {
  const answer = state.refresh(refreshToken);
  if (answer === "refused") throw new Error("refused");
  return { ...answer, refreshToken: answer.refreshToken ?? refreshToken };
}

describe("refresh models", () => {
  it("none: no refresh token in the answer, the old one goes on", () => {
    const { state, first } = setUp({ model: "none" });
    expect(state.refresh(first.refreshToken)).toEqual({
      accessToken: expect.stringMatching(/^at-/),
      expiresInSeconds: 3600,
    });
    expect(state.live("u1").refreshTokens).toEqual([first.refreshToken]);
  });

  it("same: the answer repeats the refresh token", () => {
    const { state, first } = setUp({ model: "same" });
    expect(state.refresh(first.refreshToken)).toMatchObject({ refreshToken: first.refreshToken });
    expect(state.live("u1").refreshTokens).toEqual([first.refreshToken]);
  });

  it("strict: an old one is refused and ends the grant", () => {
    const { state, first } = setUp({ model: "strict" });
    const second = refreshed(state, first.refreshToken);
    expect(state.live("u1").refreshTokens).toEqual([second.refreshToken]);
    expect(state.live("u1").accessTokens).toEqual([first.accessToken, second.accessToken]);
    expect(state.refresh(first.refreshToken)).toBe("refused");
    expect(state.live("u1")).toEqual({ accessTokens: [], refreshTokens: [] });
    expect(state.refresh(second.refreshToken)).toBe("refused");
    expect(state.counts("u1")).toEqual({ presented: 3, refreshed: 1, refused: 2 });
  });

  it.each([
    [29, "taken"],
    [30, "theft"],
    [31, "theft"],
  ])("grace: after %i s an old one is %s", (seconds, judgement) => {
    const { state, first, pass } = setUp({ model: "grace" });
    const second = refreshed(state, first.refreshToken);
    pass(seconds);
    const again = state.refresh(first.refreshToken);
    if (judgement === "theft") {
      expect([again, state.live("u1").refreshTokens]).toEqual(["refused", []]);
      return;
    }
    const third = again === "refused" ? undefined : again.refreshToken;
    expect(state.live("u1").refreshTokens).toEqual([first.refreshToken, second.refreshToken, third]);
  });

  it("grace: a retry does not prolong the time", () => {
    const { state, first, pass } = setUp({ model: "grace" });
    refreshed(state, first.refreshToken);
    pass(20);
    refreshed(state, first.refreshToken);
    pass(10);
    expect(state.refresh(first.refreshToken)).toBe("refused");
  });

  it("retry-until-used: the old one works until its successor was used", () => {
    const { state, first } = setUp({ model: "retry-until-used" });
    const lost = refreshed(state, first.refreshToken);
    const second = refreshed(state, first.refreshToken);
    expect(state.live("u1").refreshTokens).toEqual([first.refreshToken, second.refreshToken]);
    expect(state.refresh(lost.refreshToken)).toBe("refused");
    refreshed(state, second.refreshToken);
    expect(state.refresh(first.refreshToken)).toBe("refused");
    expect(state.live("u1").refreshTokens).not.toEqual([]);
  });

  it("an access token lives until its last second", () => {
    const { state, first, pass } = setUp({ model: "none", accessTokenSeconds: 60 });
    pass(59);
    expect(state.live("u1").accessTokens).toEqual([first.accessToken]);
    pass(1);
    expect(state.live("u1").accessTokens).toEqual([]);
  });

  it("a new authorization ends the grant of before, a revoked refresh token its own", () => {
    const { state, first } = setUp({ model: "strict" });
    const next = state.authorize("u1");
    expect(state.refresh(first.refreshToken)).toBe("refused");
    expect(state.live("u1").refreshTokens).toEqual([next.refreshToken]);
    state.revoke(next.refreshToken);
    expect(state.live("u1")).toEqual({ accessTokens: [], refreshTokens: [] });
  });
});
