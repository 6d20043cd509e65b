import { expect, it } from "vitest";
import { fixedClock } from "../../../oauth-core/src/testing/index.ts";
import { createRateLimit } from "./rate-limit.ts";

const START = 1_700_000_000;
const refusal = (retryAfterSeconds: number) => expect.objectContaining({ code: "slow_down", retryAfterSeconds });

it("bar#ST-8 refuses a caller's request beyond its limit, and says when to come back", () => {
  const now = fixedClock(START);
  const limit = createRateLimit(2, now);
  limit.take("a");
  now.advance(20);
  limit.take("a");
  expect(() => limit.take("a")).toThrow(refusal(40));
  expect(() => limit.take("b")).not.toThrow();
  now.advance(39);
  expect(() => limit.take("a")).toThrow(refusal(1));
  now.advance(1);
  limit.take("a");
  limit.take("a");
  expect(() => limit.take("a")).toThrow(refusal(60));
});

it("bar#ST-8 counts what is added, and forgets what is taken back", () => {
  const limit = createRateLimit(2, fixedClock(START));
  limit.add("a");
  limit.add("a");
  expect(() => limit.requireLeft("a")).toThrow(refusal(60));
  limit.takeBack("a");
  expect(limit.left("a")).toBe(1);
  expect(() => limit.requireLeft("a")).not.toThrow();
});

it("is without limit at 0", () => {
  const limit = createRateLimit(0, fixedClock(START));
  for (let at = 0; at < 1000; at += 1) limit.take("a");
  expect(limit.left("a")).toBe(Infinity);
});

it("bar#ST-8 keeps no more than 50,000 callers, and forgets the one seen longest ago", () => {
  const limit = createRateLimit(1, fixedClock(START));
  limit.take("first");
  for (let at = 0; at < 49_999; at += 1) limit.take(`a/${at}`);
  expect(limit.left("first")).toBe(0);
  limit.take("one more");
  expect([limit.left("first"), limit.left("a/0")]).toEqual([0, 1]);
});
