import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { beforeEach, expect, it } from "vitest";
import { createReplayShare, MOST_ANSWER_BYTES, MOST_CLIENT_BYTES, type ReplayShare } from "./replay-share.ts";

let now: ReturnType<typeof fixedClock>;
let share: ReplayShare;
beforeEach(() => {
  now = fixedClock(1_700_000_000);
  share = createReplayShare(now);
});

it("keeps an answer of 8 KB, and none that is longer", () => {
  expect(MOST_ANSWER_BYTES).toBe(8_192);
  expect([share.take("a", 8_192), share.take("a", 8_193)]).toEqual([true, false]);
});

it("keeps 16 MB of a client in a minute, whatever others do, and then again", () => {
  expect(MOST_CLIENT_BYTES).toBe(16 * 1024 * 1024);
  const taken = (client: string): number =>
    Array.from({ length: 3_000 }, () => share.take(client, 8_192)).filter(Boolean).length;
  expect(taken("a")).toBe(2_048);
  expect(share.take("a", 1)).toBe(false);
  expect(share.take("b", 8_192)).toBe(true);
  now.advance(59);
  expect(share.take("a", 1)).toBe(false);
  now.advance(1);
  expect(taken("a")).toBe(2_048);
});
