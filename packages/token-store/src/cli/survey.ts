/** One walk that counts and changes nothing: all of audit, and the first step of migrate and strip. */
import type { Row } from "../storage/token-rows.ts";
import { type KnownRow, knownRow } from "./row-kinds.ts";
import { createTally, type Tally } from "./tally.ts";
import { type CommandDeps, type Pace, SURVEY_PAGE, walk } from "./walk.ts";

/**
 * @param options.look also gets every token row
 * @returns undefined when told to stop
 */
export async function survey(
  { command, look }: { readonly command: string; readonly look?: (row: Row, known: KnownRow) => Promise<void> | void },
  pace: Pace,
  deps: CommandDeps,
): Promise<Tally | undefined> {
  const { now, report, signal } = deps;
  const tally = createTally();
  const ended = await walk(
    { pageRows: SURVEY_PAGE },
    async (rows) => {
      for (const row of rows) {
        if (signal.aborted) return false;
        const known = knownRow(row, now());
        tally.add(known);
        // oxlint-disable-next-line no-await-in-loop
        if (look !== undefined && known.kind !== "other") await look(row, known);
      }
      const { rows: done, plaintext_only: found } = tally.total();
      report({ event: "progress", command, pass: 0, done, counts: { plaintext_only: found } });
      return true;
    },
    pace,
    deps,
  );
  return ended ? tally : undefined;
}
