/**
 * `token-store strip`: removes the plaintext copies. The last step, and the one that cannot be
 * undone: builds that read only plaintext find nothing afterwards. So it refuses while there is any
 * sign that such a build is still running.
 */
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import { olderReadersUntil } from "../modes/older-readers.ts";
import type { Row } from "../storage/token-rows.ts";
import { expectAsRead, markOf } from "../tokens/row-conditions.ts";
import { COPY_ATTRIBUTES, type ModeName } from "../tokens/token-attributes.ts";
import type { CurrentRecord } from "../tokens/token-records.ts";
import type { TokenKey } from "../tokens/tokens.ts";
import { rows as countOf, stripAdvice } from "./advice.ts";
import type { Options } from "./arguments.ts";
import type { Standing } from "./checkpoint.ts";
import {
  IN_USE,
  type Outcome,
  readRecord,
  REFUSED,
  resultOf,
  runPasses,
  UNKNOWN_ISSUER,
  type Visitor,
  type WritingDeps,
} from "./passes.ts";
import { type Result, STOPPED } from "./report.ts";
import { inspect, keyOf, type KnownRow, knownRow } from "./row-kinds.ts";
import { survey } from "./survey.ts";
import { type CommandDeps, type Pace, paceOf, type Retry } from "./walk.ts";

/**
 * @throws OAuthError temporarily_unavailable when the table or the key service is unavailable for
 *   half an hour
 */
export async function strip(
  { issuers, rate, dryRun, mode }: Pick<Options, "issuers" | "rate" | "dryRun"> & { readonly mode: ModeName },
  deps: WritingDeps,
): Promise<Result> {
  const { rows, now, checkpoint, program } = deps;
  const pace = paceOf(rate, deps);
  const result = { command: "strip", table: rows.table, ...(dryRun ? { dryRun } : {}) } as const;
  const refused = (next: readonly string[], counts: Result["counts"] = {}): Result => {
    return { ...result, ending: "refused", counts, next };
  };

  //= bar#TS-10
  const reasons = [...(mode === "encrypted" ? [] : [MODE_PROBLEM]), ...(await olderReaderProblems(pace.retry, deps))];
  if (reasons.length > 0) return refused(reasons);
  const startedAt = now();
  let first: Standing | undefined = await checkpoint?.load();
  if (first === undefined) {
    const tally = await survey({ command: "strip" }, pace, deps);
    if (tally === undefined) return { ...result, ...STOPPED };
    const counts = tally.total();
    if (counts.plaintext_only > 0) {
      const next = [`Plaintext only: ${countOf(counts.plaintext_only)}. Run '${program.name} migrate' first.`];
      return { ...refused(next, counts), ending: "plaintext_left" };
    }
    if (dryRun) {
      const ending = counts.shows_plaintext > 0 ? "plaintext_left" : "done";
      return { ...result, ending, counts, next: ["Nothing was changed: this was a dry run."] };
    }
    first = { startedAt, pass: 1, done: 0, total: counts.rows, again: false, counts: {}, left: {} };
  }
  const visitor = stripRows(issuers, pace, deps);
  const passes = await runPasses({ command: "strip", first, visitor }, pace, deps);
  const { ended, standing } = passes;
  if (ended === "halted") return refused(await olderReaderProblems(pace.retry, deps), resultOf(passes).counts);
  // A copy that is removed from the rows is still in the SQLite file and its log.
  const isErased = ended === "interrupted" || ((await pace.retry(async () => rows.eraseFreed?.())) ?? true);
  const next = stripAdvice(ended, standing.left, { isErased, program });
  return { ...result, ...resultOf(passes, !isErased), next };
}

const MODE_PROBLEM =
  "Servers in mode bridge write the very copies that strip removes: set TOKEN_ENCRYPTION_MODE=encrypted for all of them, and here.";

/** @returns at most one sentence */
async function olderReaderProblems(retry: Retry, deps: Pick<CommandDeps, "rows" | "now">): Promise<string[]> {
  const until = await retry(() => olderReadersUntil(deps));
  if (until === undefined) return [];
  const time = new Date(until * 1000).toISOString();
  return [
    `A server in mode bridge has declared that builds which read plaintext are about, until ${time}. ` +
      "Servers renew that while they run: end those in mode bridge, then wait until then.",
  ];
}

/** Our leases are shorter; one that ends later is awaited in the next pass. */
const LONGEST_LEASE_SECONDS = 120;
/** Rows put off to the end of a pass; any more are left to the next one. */
const MOST_PUT_OFF = 10_000;
/** A server may write a row between our read and our write, but not every time. */
const MAX_TRIES = 3;

const STRIPPED: Outcome = { name: "stripped", where: "counts", again: true };
const EXPIRED_DELETED: Outcome = { name: "expired_deleted", where: "counts", again: true };
const COPY_DIFFERS: Outcome = { name: "copy_differs", where: "left", again: false };
const PLAINTEXT_ONLY: Outcome = { name: "plaintext_only", where: "left", again: false };
const UNREADABLE: Outcome = { name: "unreadable", where: "left", again: false };
const NO_ACCESS_TOKEN: Outcome = { name: "no_access_token", where: "left", again: false };

/**
 * What strip does with a row. A copy is removed only by the write that seals again what was just
 * opened, so a row whose ciphertext does not open keeps its copy. A lease means that a refresh is
 * under way: such a row is put off.
 */
function stripRows(issuers: Options["issuers"], { retry, works }: Pace, deps: WritingDeps): Visitor {
  const { rows, now, sleep, signal } = deps;
  let putOff: Row[] = [];

  const stripOne = async (row: Row, known: KnownRow): Promise<Outcome | undefined> => {
    const { kind, names, showsPlaintext } = known;
    if (names === undefined) return undefined;
    if (kind === "expired") return showsPlaintext ? removeExpired(row) : undefined;
    if (kind === "plaintext_only") return PLAINTEXT_ONLY;
    if (kind === "empty") return showsPlaintext ? NO_ACCESS_TOKEN : undefined;
    if (kind === "broken") return showsPlaintext ? UNREADABLE : undefined;
    if (kind !== "both") return undefined;
    const issuer = issuers.get(names.vendor);
    if (issuer === undefined) return UNKNOWN_ISSUER;
    await works.take();
    // Servers ignore such a copy by now, and an attacker who can write the table may have planted
    // it. Migrate accepts it, on request.
    const inspection = await retry(() => inspect(row, issuer, deps));
    return inspection === "differs" ? COPY_DIFFERS : removeCopy(keyOf(names, issuer, row), row);
  };

  const removeCopy = async (key: TokenKey, row: Row): Promise<Outcome | undefined> => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      // oxlint-disable-next-line no-await-in-loop
      const { record, records } = await readRecord(key, tries === 0 ? row : undefined, deps, retry);
      if (record === undefined) return undefined;
      if (record === "unreadable") return UNREADABLE;
      if (record === "refused") return REFUSED;
      if (record === "in_use") return IN_USE;
      if (isBare(record)) return STRIPPED;
      // The same write removes the copy; undefined if the row has changed.
      // oxlint-disable-next-line no-await-in-loop
      if ((await retry(() => records.reseal(record, { mark: "encrypted" }))) !== undefined) return STRIPPED;
    }
    return IN_USE;
  };

  /** As the table's TTL would do, which may be days late. */
  const removeExpired = async (row: Row): Promise<Outcome | undefined> => {
    await works.take();
    const expected = expectAsRead(row.attributes, ["ttl", "version", "status", ...COPY_ATTRIBUTES]);
    const removed = await retry(() => rows.delete(row.key, expected));
    return removed === "deleted" ? EXPIRED_DELETED : IN_USE;
  };

  return {
    mayGoOn: async () => (await retry(() => olderReadersUntil({ rows, now }))) === undefined,
    visit: async (row, known) => {
      const isLeased = known.kind === "both" && leasedUntil(row) > now();
      if (!isLeased) return stripOne(row, known);
      if (putOff.length === MOST_PUT_OFF) return IN_USE;
      putOff.push(row);
      return undefined;
    },
    endOfPass: async () => {
      const waiting = putOff;
      putOff = [];
      const outcomes: (Outcome | undefined)[] = [];
      /* oxlint-disable no-await-in-loop */
      for (const { key } of waiting) {
        if (signal.aborted) return outcomes;
        let row = await retry(() => rows.get(key));
        const pause = row === undefined ? 0 : Math.min(LONGEST_LEASE_SECONDS, leasedUntil(row) - now());
        if (pause > 0) {
          await sleep(pause * 1000);
          row = await retry(() => rows.get(key));
        }
        if (row === undefined) continue;
        const isLeased = leasedUntil(row) > now();
        outcomes.push(isLeased ? IN_USE : await stripOne(row, knownRow(row, now())));
      }
      /* oxlint-enable no-await-in-loop */
      return outcomes;
    },
  };
}

/** Reading a row marked `encrypted` that has a copy removes the copy. */
function isBare({ row: { attributes } }: CurrentRecord): boolean {
  return markOf(attributes) === "encrypted" && !COPY_ATTRIBUTES.some((name) => Object.hasOwn(attributes, name));
}

function leasedUntil({ attributes: { lease_until: until } }: Row): EpochSeconds {
  return typeof until === "number" ? until : 0;
}
