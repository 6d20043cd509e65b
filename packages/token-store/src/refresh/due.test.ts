import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { isAlive, refreshDue, refreshMoments } from "./due.ts";
import { DEFAULT_REFRESH_TIMES as times } from "./times.ts";
import { rowKeyOf } from "../tokens/token-attributes.ts";
import type { StoredTokens, TokenSet } from "../tokens/tokens.ts";

const NOW = 1_700_000_000;
const rowOf = (user: string): ReturnType<typeof rowKeyOf> => rowKeyOf({ user, vendor: "example" });
const ROW = rowOf("u1");

function tokens(lifeSeconds: number | undefined, rest: Partial<TokenSet> = {}): StoredTokens {
  return {
    tokens: {
      accessToken: new Secret("at"),
      refreshToken: new Secret("rt"),
      tokenType: "Bearer",
      ...(lifeSeconds === undefined ? {} : { expiresAt: NOW + lifeSeconds }),
      ...rest,
    },
    status: "active",
    version: 3,
    writtenAt: NOW,
  };
}

describe("when a refresh is due", () => {
  it.each([
    [66, "ahead"],
    [65, "due"],
    [64, "due"],
  ])("bar#8.2-1 with %i s of life an hour's token is %s", (left, due) => {
    expect(refreshDue(tokens(3600), ROW, NOW + 3600 - left, { times })).toBe(due);
  });

  it("bar#8.2-1 ahead of time begins at one second of the last tenth, the same one every time", () => {
    const { aheadAt, dueAt } = refreshMoments(tokens(3600), ROW, NOW + 3600, times);
    expect(dueAt).toBe(NOW + 3600 - 65);
    expect(aheadAt).toBeGreaterThanOrEqual(NOW + 3240);
    expect(aheadAt).toBeLessThan(dueAt);
    const at = (moment: number): string => refreshDue(tokens(3600), ROW, moment, { times });
    expect([at(aheadAt - 1), at(aheadAt), at(aheadAt + 1)]).toEqual(["fresh", "ahead", "ahead"]);
  });

  it.each([
    [3600, 295],
    [1200, 60],
    [600, 60],
  ])("bar#8.2-1 10,000 tokens of %i s that end in one second are refreshed over %i", (life, window) => {
    const perSecond = new Map<number, number>();
    for (let user = 0; user < 10_000; user += 1) {
      const { aheadAt, dueAt } = refreshMoments(tokens(life), rowOf(`user ${user}`), NOW + life, times);
      expect(aheadAt).toBeLessThanOrEqual(dueAt);
      perSecond.set(aheadAt, (perSecond.get(aheadAt) ?? 0) + 1);
    }
    const seconds = [...perSecond.keys()].sort((a, b) => a - b);
    expect(seconds).toHaveLength(window);
    expect(seconds.at(-1)! - seconds[0]!).toBe(window - 1);
    // Evenly: no second has much more than its share.
    expect(Math.max(...perSecond.values())).toBeLessThan((10_000 / window) * 1.75);
  });

  it.each([
    [120, 60],
    [60, 30],
    [10, 5],
    [1, 0],
  ])("a token of %i s is fresh until %i s are left, not due at every call", (life, margin) => {
    const at = (left: number): string => refreshDue(tokens(life), ROW, NOW + life - left, { times });
    expect(at(margin + 1)).toBe("fresh");
    expect(at(margin)).toBe("due");
  });

  it("a token without a time of writing is not refreshed ahead for days", () => {
    const unknown = { ...tokens(3600), writtenAt: 0 };
    expect(refreshMoments(unknown, ROW, NOW + 3600, times).dueAt).toBe(NOW + 3600 - 65);
    expect(refreshDue(unknown, ROW, NOW + 3600 - 130, { times })).toBe("fresh");
  });

  it("without an end it is fresh until the vendor refuses it", () => {
    expect(refreshDue(tokens(undefined), ROW, NOW + 10 ** 9, { times })).toBe("fresh");
    expect(refreshDue(tokens(undefined), ROW, NOW, { times, refused: 3 })).toBe("due");
    expect(refreshDue(tokens(undefined), ROW, NOW, { times, refused: 2 })).toBe("fresh");
  });

  it("without a refresh token it is used to its last second", () => {
    const { refreshToken: _, ...rest } = tokens(3600).tokens;
    const stored = { ...tokens(3600), tokens: rest };
    const at = (left: number): string => refreshDue(stored, ROW, NOW + 3600 - left, { times });
    expect([at(65), at(1), at(0), at(-1)]).toEqual(["fresh", "fresh", "due", "due"]);
  });

  it("lives until the second it ends in", () => {
    const at = (left: number): boolean => isAlive(tokens(3600), NOW + 3600 - left);
    expect([at(1), at(0), at(-1)]).toEqual([true, false, false]);
    expect(isAlive(tokens(undefined), NOW)).toBe(true);
  });
});
