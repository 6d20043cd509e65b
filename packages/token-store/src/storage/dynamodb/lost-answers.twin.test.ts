/** The twin: the same uses with a store that does not recognise its own writes. */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { faultyTable } from "../../testing/aws/dynamo-faults.ts";
import { useWhileAnswersAreLost } from "../../testing/aws/dynamo-lost-answers.ts";
import * as items from "./item.ts";

const faulty = faultyTable();

it("bar#CB-4 twin: without the attempt id every lost answer makes the rightful user a replay", async () => {
  weaken(items, () => ({ isOwnAttempt: () => false }));
  faulty.proxy.set({ loseAnswers: "conditional-writes-once" });
  const { falseReplays } = await useWhileAnswersAreLost(faulty.options, 2);
  // Two creations, and three moves: all but the deletion.
  expect(falseReplays).toBe(2 * 5);
});
