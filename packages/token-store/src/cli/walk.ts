/** Walks the table page by page, no faster than permitted, over outages, until its end or until told to stop. */
import type { DataKeys } from "../keys/data-keys.ts";
import type { Clock } from "@oauth-broker/oauth-core";
import type { Row, TokenRows } from "../storage/token-rows.ts";
import type { RecordEvent, TokenRecords } from "../tokens/token-records.ts";
import { type Patiently, patience, type Sleep } from "./patience.ts";
import type { Report } from "./report.ts";
import { type Throttle, throttle } from "./throttle.ts";

/** Everything a command needs from the world. */
export interface CommandDeps {
  readonly rows: TokenRows;
  /** Absent for an audit that opens nothing. */
  readonly dataKeys: DataKeys | undefined;
  readonly environment: string;
  /** Records in mode `bridge` over these rows, telling what they found to this listener. */
  readonly recordsFor: (rows: TokenRows, onEvent: (event: RecordEvent) => void) => TokenRecords;
  readonly now: Clock;
  readonly sleep: Sleep;
  /** A clock that only goes forward. */
  readonly elapsedMs: () => number;
  readonly signal: AbortSignal;
  readonly report: (report: Report) => void;
}

export interface Pace {
  readonly patiently: Patiently;
  /** Rows looked at. */
  readonly looks: Throttle;
  /** Rows worked on: opened, or read and written. */
  readonly works: Throttle;
}

const LOOKS_PER_WORK = 10;
/** While rows are only counted. */
export const SURVEY_PAGE = 250;
/** While they are worked on: what a run that is killed does once more. */
export const WORK_PAGE = 100;
/** Rows in hand at once, so that the latency of a call does not bound the rate. */
export const LANES = 8;

export function paceOf(rate: number, deps: CommandDeps): Pace {
  return {
    patiently: patience({ ...deps, onWait: (wait) => deps.report({ event: "waiting", ...wait }) }),
    looks: throttle(rate * LOOKS_PER_WORK, deps),
    works: throttle(rate, deps),
  };
}

/**
 * @param visit gets each page and the cursor of the next one, undefined after the last. @returns whether to go on
 * @returns whether the end was reached
 */
export async function walk(
  { from, pageRows }: { readonly from?: string | undefined; readonly pageRows: number },
  visit: (rows: readonly Row[], next: string | undefined) => Promise<boolean>,
  pace: Pick<Pace, "patiently" | "looks">,
  { rows, signal }: Pick<CommandDeps, "rows" | "signal">,
): Promise<boolean> {
  let cursor = from;
  // One page at a time: the next one starts where this one ended.
  /* oxlint-disable no-await-in-loop */
  while (!signal.aborted) {
    await pace.looks.take(pageRows);
    const at = cursor === undefined ? {} : { cursor };
    const page = await pace.patiently(() => rows.scan({ limit: pageRows, ...at }));
    if (!(await visit(page.rows, page.cursor))) return false;
    cursor = page.cursor;
    if (cursor === undefined) return !signal.aborted;
  }
  /* oxlint-enable no-await-in-loop */
  return false;
}

/** Works on the items, so many at once. A stop lets each finish the item in hand; a failure of one ends all. */
export async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item, lane: number) => Promise<void>,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const rest = items.values();
  let failed = false;
  const lane = async (index: number): Promise<void> => {
    for (const item of rest) {
      if (signal.aborted || failed) return;
      try {
        // oxlint-disable-next-line no-await-in-loop
        await work(item, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: lanes }, (_, index) => lane(index)));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
}
