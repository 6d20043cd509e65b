import { shared } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { findCrossed, openMixedCalls } from "./testing/mixed-calls.ts";

const USERS = 20;
/** `npm run bench -- --only mcp --flows 100000` makes as many, over sockets. */
const CALLS = 3 * USERS;

const mixed = shared(() => openMixedCalls(USERS));

it("bar#RS-8 many users at once get their own accounts, vendors their own tokens", async () => {
  const answers = await mixed.run(CALLS);
  expect(answers.length).toBeGreaterThanOrEqual(CALLS);
  expect(new Set(answers.map(({ caller }) => caller)).size).toBe(USERS);
  expect(findCrossed(answers)).toEqual([]);
});

it("bar#RS-8 nor while their vendor tokens are renewed", async () => {
  mixed.ageTokens();
  const before = mixed.refreshes();
  expect(findCrossed(await mixed.run(2 * USERS))).toEqual([]);
  expect(mixed.refreshes() - before).toBeGreaterThanOrEqual(USERS);
});
