/**
 * `token-store migrate`: seals what is plaintext only, in mode `bridge`, so that builds of before go on reading their copy.
 * Counts first, checks the issuers on rows that are sealed already, then goes over the table until a pass finds none left.
 */
import type { DataKeys } from "../keys/data-keys.ts";
import { migrateAdvice } from "./advice.ts";
import type { MigrateOptions } from "./arguments.ts";
import type { Checkpoint, Standing } from "./checkpoint.ts";
import { inspect } from "./inspect.ts";
import { issuerProblems, type Samples, sampleSealed } from "./issuers.ts";
import { migrateRows } from "./migrate-rows.ts";
import { runPasses } from "./passes.ts";
import type { Result } from "./report.ts";
import { survey } from "./survey.ts";
import type { Tally } from "./tally.ts";
import { type CommandDeps, type Pace, paceOf } from "./walk.ts";

type Deps = CommandDeps & { readonly dataKeys: DataKeys };
type Options = Omit<MigrateOptions, "json" | "checkpoint">;

/** @throws OAuthError temporarily_unavailable when the table or the key service stays away longer than patience lasts */
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
  // What is stale shows only once a data key was made under the root of now.
  if (rewrap) await pace.patiently(() => deps.dataKeys.toSeal(1));
  const visitor = migrateRows({ issuers, rewrap, startedAt: first.startedAt }, pace, deps);
  const { ended, standing } = await runPasses({ command: "migrate", first, visitor }, pace, deps);
  const plaintextOnly =
    (standing.left["unknown_issuer"] ?? 0) + (standing.left["refused"] ?? 0) + (standing.left["in_use"] ?? 0);
  const isLeft = plaintextOnly > 0 || ended === "unsettled";
  return {
    ...result,
    ending: ended === "interrupted" ? ended : isLeft ? "plaintext_left" : "done",
    counts: { rows: standing.total, passes: standing.pass, ...standing.counts, ...standing.left },
    next: migrateAdvice(ended, standing),
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
        if ((await pace.patiently(() => inspect(row, issuer, open))) === "differs") differs += 1;
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
  { patiently }: Pace,
  { dataKeys, environment, rows }: Deps,
): Promise<readonly string[]> {
  if (skipIssuerCheck) return [];
  const vendors = [...tally.byVendor()].filter(([, counts]) => counts.plaintext_only > 0).map(([vendor]) => vendor);
  return issuerProblems(vendors, { samples, issuers }, { dataKeys, environment, table: rows.table, patiently });
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
