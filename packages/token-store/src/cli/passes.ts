/**
 * Repeats passes over the whole table until one pass meets nothing that requires another: rows
 * change during a pass, and a scan may miss a row that is written in the meantime. Resumable after
 * every page. migrate.ts and strip.ts define what is done with a row.
 */
import { defined } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../errors.ts";
import type { DataKeys } from "../keys/data-keys.ts";
import type { Row, TokenRows } from "../storage/token-rows.ts";
import type { RecordEvent } from "../tokens/token-records.ts";
import type { TokenKey } from "../tokens/tokens.ts";
import type { Checkpoint, Standing } from "./checkpoint.ts";
import { isUnreadable, type KnownRow, knownRow } from "./row-kinds.ts";
import type { Result } from "./report.ts";
import { type CommandDeps, inParallel, isInUse, isOutage, type Pace, type Retry, walk, WORK_PAGE } from "./walk.ts";

/** Another process writes plaintext faster than it is sealed: the run stops. */
const MAX_PASSES = 5;

export interface Outcome {
  readonly name: string;
  /** `counts`: something was done. `left`: the row is unchanged. */
  readonly where: "counts" | "left";
  /** Whether another pass is required. */
  readonly again: boolean;
}

/** Of every command that writes. A row of an unknown issuer stays as it is. */
export const UNKNOWN_ISSUER: Outcome = { name: "unknown_issuer", where: "left", again: false };
/** Not written, because the row changed at every attempt. */
export const IN_USE: Outcome = { name: "in_use", where: "left", again: true };
/** Not written, because a token is too long. */
export const REFUSED: Outcome = { name: "refused", where: "left", again: false };

export interface Visitor {
  /** @returns undefined when nothing was to do and nothing is reported */
  visit(row: Row, known: KnownRow, pass: number): Promise<Outcome | undefined>;
  /** Called before every page. */
  mayGoOn?(): Promise<boolean>;
  /** Called after the last page, for rows that were put off. */
  endOfPass?(): Promise<readonly (Outcome | undefined)[]>;
}

/** What a command that writes depends on. */
export interface WritingDeps extends CommandDeps {
  readonly dataKeys: DataKeys;
  /** Absent: the progress is not kept. */
  readonly checkpoint: Checkpoint | undefined;
}

export interface PassesOutcome {
  /**
   * `unsettled`: the last permitted pass still met rows to work on. `halted`: the visitor refuses
   * to go on.
   */
  readonly ended: "settled" | "unsettled" | "halted" | "interrupted";
  readonly standing: Standing;
}

export async function runPasses(
  { command, first, visitor }: { readonly command: string; readonly first: Standing; readonly visitor: Visitor },
  pace: Pace,
  { checkpoint, ...deps }: WritingDeps,
): Promise<PassesOutcome> {
  // A pass that was cut short has counted part of a page, and rows that it put off are forgotten:
  // another one follows.
  const isCutShort = first.cursor !== undefined || Object.keys(first.left).length > 0;
  let standing = isCutShort ? { ...first, again: true } : first;
  const halt = { asked: false };
  const { signal, report, now } = deps;

  const note = (outcome: Outcome | undefined): void => {
    if (outcome === undefined) return;
    const { name, where, again } = outcome;
    const counts = { ...standing[where], [name]: (standing[where][name] ?? 0) + 1 };
    standing = { ...standing, [where]: counts, again: standing.again || again };
  };
  const progress = (done: number): void => {
    const { pass, total, counts, left } = standing;
    report({ event: "progress", command, pass, done, total, counts: { ...counts, ...left } });
  };

  const page = async (rows: readonly Row[], next: string | undefined): Promise<boolean> => {
    if ((await visitor.mayGoOn?.()) === false) {
      halt.asked = true;
      return false;
    }
    const { pass, done } = standing;
    let inPage = 0;
    const one = async (row: Row): Promise<void> => {
      note(await visitor.visit(row, knownRow(row, now()), pass));
      inPage += 1;
      progress(done + inPage);
    };
    try {
      await inParallel(rows, one, { signal });
    } finally {
      // A run that resumes here repeats this page: rows that are done need nothing.
      if (inPage < rows.length) await checkpoint?.save(standing);
    }
    if (inPage < rows.length) return false;
    standing = { ...standing, ...defined({ cursor: next }), done: done + rows.length };
    await checkpoint?.save(standing);
    return true;
  };

  /* oxlint-disable no-await-in-loop */
  try {
    await checkpoint?.save(standing);
    for (;;) {
      const isWhole = await walk({ from: standing.cursor, pageRows: WORK_PAGE }, page, pace, deps);
      if (!isWhole) return { ended: halt.asked ? "halted" : "interrupted", standing };
      for (const outcome of (await visitor.endOfPass?.()) ?? []) note(outcome);
      if (signal.aborted) return { ended: "interrupted", standing };
      const { again, pass, startedAt, total, counts, refused } = standing;
      if (!again || pass === MAX_PASSES) {
        await checkpoint?.remove();
        return { ended: again ? "unsettled" : "settled", standing };
      }
      const kept = { startedAt, total, counts, ...defined({ refused }) };
      standing = { ...kept, pass: pass + 1, done: 0, again: false, left: {} };
      await checkpoint?.save(standing);
    }
  } catch (error) {
    if (signal.aborted && isOutage(error)) return { ended: "interrupted", standing };
    throw error;
  }
  /* oxlint-enable no-await-in-loop */
}

/** @param isLeft also for another reason than the rows */
export function resultOf({ ended, standing }: PassesOutcome, isLeft = false): Pick<Result, "ending" | "counts"> {
  const { total, pass, counts, left } = standing;
  const isDone = ended !== "unsettled" && !isLeft && Object.values(left).every((count) => count === 0);
  return {
    ending: ended === "interrupted" ? ended : isDone ? "done" : "plaintext_left",
    counts: { rows: total, passes: pass, ...counts, ...left },
  };
}

/**
 * Reads the record, which seals what must be sealed.
 *
 * @param row as just scanned, which saves a read. Every write is conditional on it, and when it has
 *   changed, the row is read again
 * @returns instead of the record `unreadable`: it does not open; `refused`: it cannot be sealed,
 *   because its tokens are longer than a row allows; `in_use`: it could not be written, because it
 *   had changed at every attempt
 */
export async function readRecord(
  key: TokenKey,
  row: Row | undefined,
  { recordsFor, rows }: Pick<CommandDeps, "recordsFor" | "rows">,
  retry: Retry,
) {
  let scanned = row;
  const get: TokenRows["get"] = async (asked) => {
    const known = scanned;
    scanned = undefined;
    return known ?? rows.get(asked);
  };
  const found = new Set<RecordEvent["name"]>();
  const records = recordsFor({ ...rows, get }, ({ name }) => void found.add(name));
  const record = await retry(() => records.read(key)).catch((error: unknown): "in_use" | "refused" | "unreadable" => {
    if (isInUse(error)) return "in_use";
    if (isRefused(error)) return "refused";
    if (isUnreadable(error)) return "unreadable";
    throw error;
  });
  return { record, found, records };
}

/** The cause is below the records: the tokens are longer than a row allows. */
function isRefused(error: unknown): boolean {
  const isOdd = error instanceof TokenStoreError && (error.code === "too_large" || error.code === "input_invalid");
  return isOdd || (error instanceof Error && error.cause !== undefined && isRefused(error.cause));
}
