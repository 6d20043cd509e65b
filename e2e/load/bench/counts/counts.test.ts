/**
 * No flow, refresh, call of /mcp and operation of a store does more than counts.json says. Its promises and bytes of
 * log are rounded up: some are made by time, and a request to the engine may be repeated.
 */
import { expect, it } from "vitest";
import committed from "./counts.json" with { type: "json" };
import { countLines, type CountedPart, COUNTS } from "./counts.ts";
import type { CountTable, OperationCounts } from "./operation-counts.ts";

/** What the others are compared with: the floor of a flow, and /mcp without auth. */
const FLOORS = ["floor", "open"];

it.each(Object.keys(COUNTS) as CountedPart[])("nothing of %s does more than is committed", async (part) => {
  const table = await COUNTS[part]();
  const limits: CountTable = committed[part];
  const rises = Object.entries(table).flatMap(([work, subjects]) =>
    Object.entries(subjects)
      .filter(([subject]) => !FLOORS.includes(subject))
      .flatMap(([subject, now]) =>
        Object.entries(now).flatMap(([name, count]) => {
          const limit = limits[work]?.[subject]?.[name as keyof OperationCounts] ?? -1;
          return count <= limit ? [] : [`${work}, ${subject}: ${count} ${name} in place of ${limit}`];
        }),
      ),
  );
  expect(rises, countLines(table)).toEqual([]);
  expect(Object.keys(table)).toEqual(Object.keys(limits));
});
