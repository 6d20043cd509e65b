/**
 * The twin of state.test.ts: with the comparison of signatures off, forging works, which proves
 * that the corpus reaches that defence.
 */
import { beforeEach, expect, it } from "vitest";
import { stateForgeries, validState } from "../testing/corpora/state-corpus.ts";
import { weaken } from "../testing/weaken.ts";
import * as secret from "./secret.ts";
import { createStateCodec } from "./state.ts";

beforeEach(() => weaken(secret, () => ({ isSameText: () => true })));

const NOW = 1_700_000_000;
const AUDIENCE = "https://broker.example.com";
const key = Buffer.alloc(32, 1);
const codec = createStateCodec({
  keys: { active: () => ({ kid: "k1", key }), find: () => Promise.resolve(undefined) },
  audience: AUDIENCE,
  now: () => NOW,
});
const attacker = { key: Buffer.alloc(32, 9), kid: "k1", audience: AUDIENCE, now: NOW };

it("bar#CB-1 twin: without the comparison anyone signs a state", async () => {
  await expect(codec.verify(validState(attacker))).resolves.toBeDefined();
});

it("bar#CB-1 twin: without the comparison a public key or nothing at all is as good as our key", async () => {
  const guesses = stateForgeries(attacker).filter(({ name }) => name.startsWith("signed with"));
  expect(guesses.length).toBeGreaterThan(10);
  for (const { state } of guesses) await expect(codec.verify(state)).resolves.toBeDefined();
});

it("bar#CB-3 twin: without the comparison white space after a state makes new spellings", async () => {
  const spellings = stateForgeries({ ...attacker, key }).filter(({ name }) => name.endsWith("after the signature"));
  expect(spellings.length).toBeGreaterThan(10);
  for (const { state } of spellings) await expect(codec.verify(state)).resolves.toBeDefined();
});
