/**
 * `token-store migrate`: seals rows that are plaintext only, in mode `bridge`, so that older builds
 * can still read their copy. Counts first, checks the issuers on rows that are already sealed, then
 * repeats passes over the table until none is left.
 */
import type { DataKeys } from "../keys/data-keys.ts";
import type { Row } from "../storage/token-rows.ts";
import { migrateAdvice } from "./advice.ts";
import type { MigrateOptions } from "./arguments.ts";
import type { Checkpoint, Standing } from "./checkpoint.ts";
import { lanesOf, type Outcome, runPasses, type Visitor } from "./passes.ts";
import type { Result } from "./report.ts";
import { inspect, type InspectDeps, keyOf, type KnownRow } from "./row-kinds.ts";
import { survey, type Tally } from "./survey.ts";
import { type CommandDeps, type Pace, paceOf, type Retry } from "./walk.ts";

type Deps = CommandDeps & { readonly dataKeys: DataKeys };
type Options = Omit<MigrateOptions, "json" | "checkpoint">;

/**
 * @throws OAuthError temporarily_unavailable when the table or the key service is unavailable for
 *   half an hour
 */
export async function migrate(options: Options, deps: Deps & { readonly checkpoint: Checkpoint }): Promise<Result> {
  const { issuers, rate, rewrap, dryRun } = options;
  const { rows, now, checkpoint } = deps;
  const pace = paceOf(rate, deps);
  const result = { command: "migrate", table: rows.table, ...(dryRun ? { dryRun } : {}) } as const;

  const startedAt = now();
  let first: Standing | undefined = await checkpoint.load();
  if (first === undefined) {
    const counted = await count(options, pace, deps);
    if (counted === undefined) {
      return { ...result, ending: "interrupted", counts: {}, next: ["Nothing was changed: run it again."] };
    }
    const problems = await issuerProblemsOf(counted, options, pace, deps);
    const { tally, differs } = counted;
    if (problems.length > 0) return { ...result, ending: "refused", counts: tally.total(), next: problems };
    if (dryRun) return forecast(result, { tally, differs }, issuers);
    first = { startedAt, pass: 1, done: 0, total: tally.total().rows, again: false, counts: {}, left: {} };
  }
  // A data key must be made under the current root before stale ones can be recognised.
  if (rewrap) await pace.retry(() => deps.dataKeys.toSeal(1));
  const visitor = migrateRows({ issuers, rewrap, startedAt: first.startedAt }, pace, deps);
  const { ended, standing } = await runPasses({ command: "migrate", first, visitor }, pace, deps);
  const plaintextOnly =
    (standing.left["unknown_issuer"] ?? 0) + (standing.left["refused"] ?? 0) + (standing.left["in_use"] ?? 0);
  const isLeft = plaintextOnly > 0 || ended === "unsettled";
  return {
    ...result,
    ending: ended === "interrupted" ? ended : isLeft ? "plaintext_left" : "done",
    counts: { rows: standing.total, passes: standing.pass, ...standing.counts, ...standing.left },
    next: migrateAdvice(ended, standing, deps.program),
  };
}

interface Counted {
  readonly tally: Tally;
  readonly samples: Samples;
  /** Rows whose copy differs; counted only for a dry run. */
  readonly differs: number;
}

async function count(options: Options, pace: Pace, deps: Deps): Promise<Counted | undefined> {
  const { issuers, dryRun } = options;
  const { dataKeys, environment, rows } = deps;
  const samples = sampleSealed();
  let differs = 0;
  const tally = await survey(
    {
      command: "migrate",
      look: async (row, known) => {
        samples.add(row, known);
        const issuer = issuers.get(known.names?.vendor ?? "");
        if (!dryRun || known.kind !== "both" || issuer === undefined) return;
        await pace.works.take();
        const open = { dataKeys, environment, table: rows.table };
        if ((await pace.retry(() => inspect(row, issuer, open))) === "differs") differs += 1;
      },
    },
    pace,
    deps,
  );
  return tally === undefined ? undefined : { tally, samples, differs };
}

async function issuerProblemsOf(
  { tally, samples }: Counted,
  { issuers, skipIssuerCheck }: Options,
  { retry }: Pace,
  { dataKeys, environment, rows }: Deps,
): Promise<readonly string[]> {
  if (skipIssuerCheck) return [];
  const vendors = [...tally.byVendor()].filter(([, counts]) => counts.plaintext_only > 0).map(([vendor]) => vendor);
  return issuerProblems(vendors, { samples, issuers }, { dataKeys, environment, table: rows.table, retry });
}

function forecast(
  result: Pick<Result, "command" | "table">,
  { tally, differs }: Pick<Counted, "tally" | "differs">,
  issuers: ReadonlyMap<string, string>,
): Result {
  let [known, unknown] = [0, 0];
  for (const [vendor, { plaintext_only: found }] of tally.byVendor()) {
    if (issuers.has(vendor)) known += found;
    else unknown += found;
  }
  return {
    ...result,
    ending: known + unknown > 0 ? "plaintext_left" : "done",
    counts: { rows: tally.total().rows, to_seal: known, copies_to_take: differs, unknown_issuer: unknown },
    next: ["Nothing was changed: this was a dry run."],
  };
}

/**
 * Later passes open only copies that may have been written after the start, whatever the clock of
 * the writing machine.
 */
const CLOCK_SKEW_SECONDS = 3600;

const SEALED: Outcome = { name: "sealed", where: "counts", again: true };
const COPY_TAKEN: Outcome = { name: "copies_taken", where: "counts", again: false };
const REWRAPPED: Outcome = { name: "rewrapped", where: "counts", again: false };
const UNREADABLE: Outcome = { name: "unreadable", where: "counts", again: false };
/** Plaintext only, and stays so. */
const UNKNOWN_ISSUER: Outcome = { name: "unknown_issuer", where: "left", again: false };
const REFUSED: Outcome = { name: "refused", where: "left", again: false };
/** Not written, because the row changed at every attempt. */
const IN_USE: Outcome = { name: "in_use", where: "left", again: true };

/**
 * What migrate does with a row. TokenRecords makes every write: conditional on the row as it was
 * read, with `updated_at` unchanged.
 */
function migrateRows(
  {
    issuers,
    rewrap,
    startedAt,
  }: { readonly issuers: ReadonlyMap<string, string>; readonly rewrap: boolean; readonly startedAt: number },
  pace: Pace,
  deps: CommandDeps & { readonly dataKeys: DataKeys },
): Visitor {
  const { dataKeys, environment, rows } = deps;
  const { retry, works } = pace;
  const lanes = lanesOf(deps, retry);
  const isStale = ({ attributes: { data_key: wrapped } }: Row): boolean =>
    typeof wrapped === "string" && dataKeys.isStale(wrapped);

  /** Whether the records have to read, and so rewrite, a sealed row. */
  const wantsWork = async (
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
    const inspection = await retry(() => inspect(row, issuer, { dataKeys, environment, table: rows.table }));
    return inspection === "unreadable" ? inspection : inspection === "differs";
  };

  return {
    visit: async (row, known, { lane, pass }) => {
      const { kind, names } = known;
      if (names === undefined || kind === "expired" || kind === "empty") return undefined;
      const unreadable = pass === 1 ? UNREADABLE : undefined;
      if (kind === "broken") return unreadable;
      const issuer = issuers.get(names.vendor);
      if (issuer === undefined) return kind === "plaintext_only" ? UNKNOWN_ISSUER : undefined;
      if (kind === "plaintext_only") await works.take();
      else {
        const wanted = await wantsWork(row, known, issuer, pass);
        if (wanted === "unreadable") return unreadable;
        if (!wanted) return undefined;
      }
      //= bar#TS-15
      const read = await lanes[lane]?.read(keyOf(names, issuer, row), row);
      if (read?.record === "refused") return kind === "plaintext_only" ? REFUSED : undefined;
      if (read?.record === "unreadable") return unreadable;
      if (read?.record === "in_use") return IN_USE;
      if (read?.found.has("plaintext_only") === true) return SEALED;
      if (read?.found.has("copy_changed") === true) return COPY_TAKEN;
      return read?.found.has("rewrapped") === true ? REWRAPPED : undefined;
    },
  };
}

const MOST_SAMPLES = 5;

interface Samples {
  add(row: Row, known: KnownRow): void;
  of(vendor: string): readonly Row[];
}

/** Keeps some sealed rows of each vendor. */
function sampleSealed(): Samples {
  const samples = new Map<string, Row[]>();
  return {
    add: (row, { kind, names }) => {
      if (names === undefined || (kind !== "both" && kind !== "ciphertext_only")) return;
      const kept = samples.get(names.vendor) ?? [];
      samples.set(names.vendor, kept);
      if (kept.length < MOST_SAMPLES) kept.push(row);
    },
    of: (vendor) => samples.get(vendor) ?? [],
  };
}

/**
 * Checks that the issuers on the command line are those the servers seal with. A row sealed for
 * another issuer could be opened by no server, so a row that a server has sealed must open first.
 *
 * @param vendors those with rows to seal
 * @returns what is wrong, a sentence for each vendor
 */
async function issuerProblems(
  vendors: readonly string[],
  { samples, issuers }: { readonly samples: Samples; readonly issuers: ReadonlyMap<string, string> },
  { retry, ...deps }: InspectDeps & { readonly retry: Retry },
): Promise<readonly string[]> {
  const problems = vendors.map(async (vendor): Promise<readonly string[]> => {
    const issuer = issuers.get(vendor);
    if (issuer === undefined) return [];
    const rows = samples.of(vendor);
    const opened = await Promise.all(rows.map((row) => retry(() => inspect(row, issuer, deps))));
    if (opened.some((inspection) => inspection !== "unreadable")) return [];
    return rows.length === 0
      ? [
          `No row of ${vendor} is sealed yet, so --issuer ${vendor}=${issuer} cannot be checked. Let a server in mode bridge ` +
            `serve one user first, or repeat with --skip-issuer-check if you are certain: rows sealed for another issuer open nowhere.`,
        ]
      : [
          `The rows of ${vendor} that servers have sealed do not open with --issuer ${vendor}=${issuer}. Give the issuer the ` +
            `servers use, and compare DB_TABLE_NAME, DB_TABLE_REGION and TOKEN_ENCRYPTION_KMS_KEY_ID with theirs.`,
        ];
  });
  return (await Promise.all(problems)).flat();
}
