/**
 * Walks the table page by page at a limited rate, across outages, until its end or until it is
 * stopped. It waits for a table or key service that is unavailable: a command that walks a million
 * rows must not end at the first throttled call, and must not overload a service that is
 * recovering.
 */
import { type Clock, OAuthError } from "@oauth-broker/oauth-core";
import type { DataKeys } from "../keys/data-keys.ts";
import type { Row, TokenRows } from "../storage/token-rows.ts";
import type { RecordEvent, TokenRecords } from "../tokens/token-records.ts";
import type { Program } from "./arguments.ts";
import type { Report } from "./report.ts";

/** Everything a command depends on. */
export interface CommandDeps {
  readonly rows: TokenRows;
  /** Absent for an audit that opens no row. */
  readonly dataKeys: DataKeys | undefined;
  readonly environment: string;
  /** Records in mode `bridge` over these rows, reporting their findings to this listener. */
  readonly recordsFor: (rows: TokenRows, onEvent: (event: RecordEvent) => void) => TokenRecords;
  readonly now: Clock;
  /** Resolves after this many milliseconds, and at once when the command is stopped. */
  readonly sleep: (ms: number) => Promise<void>;
  /** A monotonic clock. */
  readonly elapsedMs: () => number;
  readonly signal: AbortSignal;
  readonly report: (report: Report) => void;
  readonly program: Program;
}

export type Pace = ReturnType<typeof paceOf>;

const LOOKS_PER_WORK = 10;
/** Page size while rows are only counted. */
export const SURVEY_PAGE = 250;
/** Page size while rows are worked on: a killed run repeats this many. */
export const WORK_PAGE = 100;
/** Rows processed at once, so that the latency of a call does not limit the rate. */
const LANES = 8;

export function paceOf(rate: number, deps: CommandDeps) {
  return {
    retry: retryOutages(deps),
    /** Rows read. */
    looks: throttle(rate * LOOKS_PER_WORK, deps),
    /** Rows worked on: opened, or read and written. */
    works: throttle(rate, deps),
  };
}

/**
 * @param visit gets each page and the cursor of the next one (undefined after the last); returns
 *   whether to go on
 * @returns whether the end was reached
 */
export async function walk(
  { from, pageRows }: { readonly from?: string | undefined; readonly pageRows: number },
  visit: (rows: readonly Row[], next: string | undefined) => Promise<boolean>,
  pace: Pick<Pace, "retry" | "looks">,
  { rows, signal }: Pick<CommandDeps, "rows" | "signal">,
): Promise<boolean> {
  let cursor = from;
  // One page at a time: the next page starts at the end of this one.
  /* oxlint-disable no-await-in-loop */
  while (!signal.aborted) {
    await pace.looks.take(pageRows);
    const at = cursor === undefined ? {} : { cursor };
    const page = await pace.retry(() => rows.scan({ limit: pageRows, ...at }));
    if (!(await visit(page.rows, page.cursor))) return false;
    cursor = page.cursor;
    if (cursor === undefined) return !signal.aborted;
  }
  /* oxlint-enable no-await-in-loop */
  return false;
}

/**
 * Works on the items, several at once. A stop lets each finish its current item; one failure ends
 * all.
 */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const rest = items.values();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (const item of rest) {
      if (signal.aborted || failed) return;
      try {
        // oxlint-disable-next-line no-await-in-loop
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** How long after the last response the command ends, and says how to resume it. */
const LONGEST_OUTAGE_MS = 30 * 60_000;

export type Retry = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * @returns a function that calls until it gets a response. All calls wait for one outage together.
 *   It throws the outage when it lasts too long or the command ends, and any other error at once
 */
function retryOutages({ sleep, signal, report }: Pick<CommandDeps, "sleep" | "signal" | "report">): Retry {
  let pause = FIRST_PAUSE_MS;
  let waited = 0;
  let waiting: Promise<void> | undefined;

  const wait = async (error: OAuthError): Promise<void> => {
    const reason = error.extras.reason ?? error.code;
    report({ event: "waiting", reason, detail: error.operatorText, seconds: pause / 1000 });
    await sleep(pause);
    waited += pause;
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    waiting = undefined;
  };

  return async (call) => {
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        const answer = await call();
        [pause, waited] = [FIRST_PAUSE_MS, 0];
        return answer;
      } catch (error) {
        if (!isOutage(error) || waited >= LONGEST_OUTAGE_MS || signal.aborted) throw error;
        // oxlint-disable-next-line no-await-in-loop
        await (waiting ??= wait(error));
      }
    }
  };
}

/** An outage, which waiting may resolve; not a row that other processes keep writing. */
export function isOutage(error: unknown): error is OAuthError {
  const isAway = error instanceof OAuthError && error.code === "temporarily_unavailable";
  return isAway && error.extras.reason !== "token_unreadable" && !isInUse(error);
}

export function isInUse(error: unknown): boolean {
  return error instanceof OAuthError && error.extras.reason === "record_in_use";
}

/** At most this many per second, evenly: the table and the key service serve users in the meantime. */
function throttle(perSecond: number, { sleep, elapsedMs }: Pick<CommandDeps, "sleep" | "elapsedMs">) {
  let free = 0;
  return {
    /** Resolves when that many more may go ahead. */
    take: async (count = 1): Promise<void> => {
      const now = elapsedMs();
      const at = Math.max(now, free);
      free = at + (count * 1000) / perSecond;
      if (at > now) await sleep(at - now);
    },
  };
}
