/**
 * `token-store migrate`: seals rows that are plaintext only, in mode `bridge`, so that older builds
 * can still read their copy. Counts first, checks each vendor's issuer on rows that are already
 * sealed, then repeats passes over the table until none is left.
 */
import type { Row } from "../storage/token-rows.ts";
import { migrateAdvice } from "./advice.ts";
import type { Options } from "./arguments.ts";
import type { Standing } from "./checkpoint.ts";
import { addSample, issuerAdvice, type RefusedIssuers, refusedIssuers, type Samples } from "./issuers/check.ts";
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
import { inspect, keyOf, type KnownRow } from "./row-kinds.ts";
import { survey, type Tally } from "./survey.ts";
import { type Pace, paceOf } from "./walk.ts";

type MigrateOptions = Pick<Options, "issuers" | "rate" | "dryRun" | "rewrap" | "skipIssuerCheck">;

/**
 * @throws OAuthError temporarily_unavailable when the table or the key service is unavailable for
 *   half an hour
 */
export async function migrate(options: MigrateOptions, deps: WritingDeps): Promise<Result> {
  const { issuers, rate, rewrap, dryRun, skipIssuerCheck } = options;
  const { rows, now, checkpoint, program } = deps;
  const pace = paceOf(rate, deps);
  const result = { command: "migrate", table: rows.table, ...(dryRun ? { dryRun } : {}) } as const;

  const startedAt = now();
  let first: Standing | undefined = await checkpoint?.load();
  if (first === undefined) {
    const counted = await count(options, pace, deps);
    if (counted === undefined) return { ...result, ...STOPPED };
    const refused = skipIssuerCheck ? {} : await refusedIssuers(counted, issuers, { ...deps, retry: pace.retry });
    const counts = counted.tally.total();
    if (isAllRefused(refused, counted, options)) {
      return { ...result, ending: "refused", counts, next: issuerAdvice(refused, issuers, program) };
    }
    if (dryRun) return forecast(result, { ...counted, refused }, { issuers, program });
    first = { startedAt, pass: 1, done: 0, total: counts.rows, again: false, counts: {}, left: {}, refused };
  }
  const { refused = {} } = first;
  // A data key must be made under the current root before stale ones can be recognised.
  if (rewrap) await pace.retry(() => deps.dataKeys.toSeal(1));
  const visitor = migrateRows({ issuers, refused, rewrap, startedAt: first.startedAt }, pace, deps);
  const passes = await runPasses({ command: "migrate", first, visitor }, pace, deps);
  const { ended, standing } = passes;
  const isRefused = (standing.left[ISSUER_REFUSED.name] ?? 0) > 0 && ended !== "interrupted";
  return {
    ...result,
    ...resultOf(passes),
    next: [...(isRefused ? issuerAdvice(refused, issuers, program) : []), ...migrateAdvice(ended, standing, program)],
  };
}

interface Counted {
  readonly tally: Tally;
  readonly samples: Samples;
  /** Rows whose copy differs; counted only for a dry run. */
  readonly differs: number;
}

async function count({ issuers, dryRun }: MigrateOptions, pace: Pace, deps: WritingDeps): Promise<Counted | undefined> {
  const samples: Samples = new Map();
  let differs = 0;
  const tally = await survey(
    {
      command: "migrate",
      look: async (row, known) => {
        addSample(samples, row, known);
        const issuer = issuers.get(known.names?.vendor ?? "");
        if (!dryRun || known.kind !== "both" || issuer === undefined) return;
        await pace.works.take();
        if ((await pace.retry(() => inspect(row, issuer, deps))) === "differs") differs += 1;
      },
    },
    pace,
    deps,
  );
  return tally === undefined ? undefined : { tally, samples, differs };
}

/** Whether no vendor of the table is left to work on, because of its issuer. */
function isAllRefused(refused: RefusedIssuers, { tally }: Counted, { issuers }: MigrateOptions): boolean {
  const vendors = [...tally.byVendor().keys()].filter((vendor) => issuers.has(vendor));
  return vendors.length > 0 && vendors.every((vendor) => Object.hasOwn(refused, vendor));
}

function forecast(
  result: Pick<Result, "command" | "table">,
  { tally, differs, refused }: Pick<Counted, "tally" | "differs"> & { readonly refused: RefusedIssuers },
  { issuers, program }: Pick<Options, "issuers"> & Pick<WritingDeps, "program">,
): Result {
  let [known, left, unknown] = [0, 0, 0];
  for (const [vendor, { plaintext_only: found }] of tally.byVendor()) {
    if (Object.hasOwn(refused, vendor)) left += found;
    else if (issuers.has(vendor)) known += found;
    else unknown += found;
  }
  const refusals = left > 0 ? { issuer_refused: left } : {};
  return {
    ...result,
    ending: known + left + unknown > 0 ? "plaintext_left" : "done",
    counts: { rows: tally.total().rows, to_seal: known, copies_to_take: differs, unknown_issuer: unknown, ...refusals },
    next: [...issuerAdvice(refused, issuers, program), "Nothing was changed: this was a dry run."],
  };
}

/**
 * Later passes open only copies that may have been written after the start, with any clock of the
 * writing machine.
 */
const CLOCK_SKEW_SECONDS = 3600;

const SEALED: Outcome = { name: "sealed", where: "counts", again: true };
const COPY_TAKEN: Outcome = { name: "copies_taken", where: "counts", again: false };
const REWRAPPED: Outcome = { name: "rewrapped", where: "counts", again: false };
const UNREADABLE: Outcome = { name: "unreadable", where: "counts", again: false };
const ISSUER_REFUSED: Outcome = { name: "issuer_refused", where: "left", again: false };

/**
 * What migrate does with a row. TokenRecords makes every write: conditional on the row as it was
 * read, with `updated_at` unchanged.
 */
function migrateRows(
  options: Pick<Options, "issuers" | "rewrap"> & { readonly refused: RefusedIssuers; readonly startedAt: number },
  { retry, works }: Pace,
  deps: WritingDeps,
): Visitor {
  const { issuers, refused, rewrap, startedAt } = options;
  const isStale = ({ attributes: { data_key: wrapped } }: Row): boolean =>
    typeof wrapped === "string" && deps.dataKeys.isStale(wrapped);

  /** Whether the records have to read, and so rewrite, a sealed row. */
  const hasWork = async (
    row: Row,
    { kind }: KnownRow,
    issuer: string,
    pass: number,
  ): Promise<boolean | "unreadable"> => {
    if (rewrap && isStale(row)) return true;
    const since = row.attributes["updated_at"];
    const isRecent = typeof since !== "number" || since >= startedAt - CLOCK_SKEW_SECONDS;
    if (kind === "ciphertext_only" || (pass > 1 && !isRecent)) return false;
    await works.take();
    const inspection = await retry(() => inspect(row, issuer, deps));
    return inspection === "unreadable" ? inspection : inspection === "differs";
  };

  return {
    visit: async (row, known, pass) => {
      const { kind, names } = known;
      if (names === undefined || kind === "expired" || kind === "empty") return undefined;
      const unreadable = pass === 1 ? UNREADABLE : undefined;
      if (kind === "broken") return unreadable;
      if (Object.hasOwn(refused, names.vendor)) return kind === "plaintext_only" ? ISSUER_REFUSED : undefined;
      const issuer = issuers.get(names.vendor);
      if (issuer === undefined) return kind === "plaintext_only" ? UNKNOWN_ISSUER : undefined;
      if (kind === "plaintext_only") await works.take();
      else {
        const wanted = await hasWork(row, known, issuer, pass);
        if (wanted === "unreadable") return unreadable;
        if (!wanted) return undefined;
      }
      //= bar#TS-15
      const { record, found } = await readRecord(keyOf(names, issuer, row), row, deps, retry);
      if (record === "refused") return kind === "plaintext_only" ? REFUSED : undefined;
      if (record === "unreadable") return unreadable;
      if (record === "in_use") return IN_USE;
      if (found.has("plaintext_only")) return SEALED;
      if (found.has("copy_changed")) return COPY_TAKEN;
      return found.has("rewrapped") ? REWRAPPED : undefined;
    },
  };
}
