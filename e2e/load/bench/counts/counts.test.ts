/**
 * No flow, refresh, call of /mcp and operation of a store does more than counts.json says. Its promises and bytes of
 * log are rounded up: some are made by time, and a request to the engine may be repeated. What the
 * SDK of AWS hashes is not ours, and does not count.
 */
import { expect, it } from "vitest";
import committed from "./counts.json" with { type: "json" };
import { COUNTED_PARTS, countLines, countPart, type CountTable } from "./counts.ts";
import type { Counts } from "./counter.ts";

it.each(COUNTED_PARTS)("nothing of %s does more than is committed", async (part) => {
  const table = await countPart(part);
  const limits: CountTable = committed[part];
  const rises = Object.entries(table).flatMap(([work, subjects]) =>
    Object.entries(subjects).flatMap(([subject, now]) =>
      Object.entries(now).flatMap(([name, count]) => {
        const limit = limits[work]?.[subject]?.[name as keyof Counts] ?? -1;
        return count <= limit ? [] : [`${work}, ${subject}: ${count} ${name} in place of ${limit}`];
      }),
    ),
  );
  expect(rises, countLines(table)).toEqual([]);
  expect(Object.keys(table)).toEqual(Object.keys(limits));
});
