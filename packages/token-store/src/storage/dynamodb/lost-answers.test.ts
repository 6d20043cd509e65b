import { volume } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { faultyTable } from "../../testing/aws/dynamo-faults.ts";
import { useWhileAnswersAreLost } from "../../testing/aws/dynamo-lost-answers.ts";

const ROUNDS = volume({ test: 2, soak: 30 });
const THROTTLED_ROUNDS = volume({ test: 1, soak: 10 });
/** Of one round. */
const OPERATIONS = 14;

const faulty = faultyTable();

it("bar#CB-4 every conditional write loses its answer once, and nothing is used twice", async () => {
  faulty.proxy.set({ loseAnswers: "conditional-writes-once" });
  const counts = await useWhileAnswersAreLost(faulty.options, ROUNDS);
  expect(counts).toEqual({ operations: ROUNDS * OPERATIONS, falseReplays: 0, doubleUses: 0 });
  // Otherwise little was proved: each of the six wins of a round was a lost answer.
  expect(faulty.proxy.counts().lost).toBeGreaterThanOrEqual(6 * ROUNDS);
});

it("bar#CB-4 the same while three in ten requests are throttled and one in ten fails", async () => {
  faulty.proxy.set({ loseAnswers: "conditional-writes-once", throttleRate: 0.3, errorRate: 0.1 });
  const counts = await useWhileAnswersAreLost(faulty.options, THROTTLED_ROUNDS);
  expect(counts).toEqual({ operations: THROTTLED_ROUNDS * OPERATIONS, falseReplays: 0, doubleUses: 0 });
});
