/**
 * No flow and no refresh does more than counts.json says. Its promises and bytes of log are rounded up:
 * some are made by time.
 */
import { expect, it } from "vitest";
import committed from "./counts.json" with { type: "json" };
import { type CountTable, countLines, countOperations, type OperationCounts } from "./counts.ts";

it("a flow and a refresh do no more than is committed", async () => {
  const table = await countOperations();
  const rises = Object.entries(committed).flatMap(([work, subjects]) =>
    Object.entries(subjects).flatMap(([subject, most]: [string, OperationCounts]) => {
      const now =
        table[work as keyof CountTable][subject as keyof typeof subjects] ?? expect.fail(`${work}, ${subject}`);
      return Object.entries(most).flatMap(([name, limit]) => {
        const count = now[name as keyof OperationCounts];
        return count <= limit ? [] : [`${work}, ${subject}: ${count} ${name} in place of ${limit}`];
      });
    }),
  );
  expect(rises, countLines(table)).toEqual([]);
});
