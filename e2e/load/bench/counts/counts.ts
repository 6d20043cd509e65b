/**
 * What one flow, one refresh, one call of /mcp and one operation of a store do, in counts that are
 * the same on every machine: hashes, JSON, buffers, promises, bytes of log.
 */
import { countBroker } from "./broker.ts";
import { countMcp } from "./mcp.ts";
import type { CountTable } from "./operation-counts.ts";
import { countStores } from "./store.ts";

/** By part of the bench. Each throws an Error when an answer is wrong. */
export const COUNTS = { broker: countBroker, store: countStores, mcp: countMcp } as const;
export type CountedPart = keyof typeof COUNTS;

/** A line per subject and operation. */
export function countLines(table: CountTable): string {
  const rows = Object.entries(table).flatMap(([work, subjects]) =>
    Object.entries(subjects).map(([subject, counts]) => {
      const { hashes, recordMacs, json, bufferFrom, promises, logBytes } = counts;
      return [`${work}, ${subject}`, hashes, recordMacs, json, bufferFrom, promises, logBytes].join(" | ");
    }),
  );
  return [
    "| per operation | hashes | record MACs | JSON | Buffer.from | promises | bytes of log |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}
