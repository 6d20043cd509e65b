/**
 * One walk that finds how many rows of each kind there are, in total and for each vendor, and changes
 * nothing: all of
 * audit, and the first step of migrate and strip.
 */
import type { Row } from "../storage/token-rows.ts";
import { type KnownRow, knownRow, ROW_KINDS, type RowKind } from "./row-kinds.ts";
import { type CommandDeps, type Pace, SURVEY_PAGE, walk } from "./walk.ts";

/**
 * @param options.look also gets every token row
 * @returns undefined when it was stopped
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

/** `shows_plaintext`: rows of any kind in which a reader of the table can read a token. */
export type Counts = Readonly<Record<RowKind | "rows" | "shows_plaintext" | "marked_encrypted", number>>;

export type Tally = ReturnType<typeof createTally>;

type Mutable = { -readonly [Name in keyof Counts]: number };

function createTally() {
  const all = none();
  const vendors = new Map<string, Mutable>();
  return {
    add: (row: KnownRow): void => {
      count(all, row);
      if (row.names === undefined) return;
      const { vendor } = row.names;
      const counts = vendors.get(vendor) ?? none();
      vendors.set(vendor, counts);
      count(counts, row);
    },
    total: (): Counts => ({ ...all }),
    /** Sorted by name. Rows that are not token rows belong to no vendor. */
    byVendor: (): ReadonlyMap<string, Counts> => new Map([...vendors].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function none(): Mutable {
  const kinds = Object.fromEntries(ROW_KINDS.map((kind) => [kind, 0])) as Record<RowKind, number>;
  return { rows: 0, ...kinds, shows_plaintext: 0, marked_encrypted: 0 };
}

function count(counts: Mutable, { kind, showsPlaintext, markedEncrypted }: KnownRow): void {
  counts.rows += 1;
  counts[kind] += 1;
  if (showsPlaintext) counts.shows_plaintext += 1;
  if (markedEncrypted) counts.marked_encrypted += 1;
}
