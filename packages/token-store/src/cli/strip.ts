/**
 * `token-store strip`: removes the plaintext copies. The last step, and the one that cannot be undone: builds that know only
 * plaintext find nothing afterwards. So it refuses while anything says that such a build may still be about.
 */
import type { Clock } from "@oauth-broker/oauth-core";
import type { DataKeys } from "../keys/data-keys.ts";
import { olderReadersUntil } from "../modes/older-readers.ts";
import type { TokenRows } from "../storage/token-rows.ts";
import type { ModeName } from "../tokens/token-attributes.ts";
import { rows as countOf, stripAdvice } from "./advice.ts";
import type { WriteOptions } from "./arguments.ts";
import type { Checkpoint, Standing } from "./checkpoint.ts";
import { runPasses } from "./passes.ts";
import type { Patiently } from "./patience.ts";
import type { Result } from "./report.ts";
import { stripRows } from "./strip-rows.ts";
import { survey } from "./survey.ts";
import { type CommandDeps, paceOf } from "./walk.ts";

type Options = Omit<WriteOptions, "json" | "checkpoint"> & { readonly mode: ModeName };

/** @throws OAuthError temporarily_unavailable when the table or the key service stays away longer than patience lasts */
export async function strip(
  options: Options,
  deps: CommandDeps & { readonly dataKeys: DataKeys; readonly checkpoint: Checkpoint },
): Promise<Result> {
  const { issuers, rate, dryRun, mode } = options;
  const { rows, now, checkpoint } = deps;
  const pace = paceOf(rate, deps);
  const result = { command: "strip", table: rows.table, ...(dryRun ? { dryRun } : {}) } as const;
  const refused = (next: readonly string[], counts: Result["counts"] = {}): Result => {
    return { ...result, ending: "refused", counts, next };
  };

  //= bar#TS-10
  const reasons = [...modeProblems(mode), ...(await olderReaderProblems(pace.patiently, deps))];
  if (reasons.length > 0) return refused(reasons);
  const startedAt = now();
  let first: Standing | undefined = await checkpoint.load();
  if (first === undefined) {
    const tally = await survey({ command: "strip" }, pace, deps);
    if (tally === undefined) {
      return { ...result, ending: "interrupted", counts: {}, next: ["Nothing was changed: run it again."] };
    }
    const counts = tally.total();
    if (counts.plaintext_only > 0) {
      const next = [`Plaintext only: ${countOf(counts.plaintext_only)}. Run 'token-store migrate' first.`];
      return { ...refused(next, counts), ending: "plaintext_left" };
    }
    if (dryRun) {
      const ending = counts.shows_plaintext > 0 ? "plaintext_left" : "done";
      return { ...result, ending, counts, next: ["Nothing was changed: this was a dry run."] };
    }
    first = { startedAt, pass: 1, done: 0, total: counts.rows, again: false, counts: {}, left: {} };
  }
  const visitor = stripRows({ issuers }, pace, deps);
  const { ended, standing } = await runPasses({ command: "strip", first, visitor }, pace, deps);
  const { total, pass, left } = standing;
  const counts = { rows: total, passes: pass, ...standing.counts, ...left };
  if (ended === "halted") return refused(await olderReaderProblems(pace.patiently, deps), counts);
  // A copy that is out of the rows is not yet out of the file they lie in.
  //= bar#TS-10
  const isErased = ended === "interrupted" || ((await pace.patiently(async () => rows.eraseFreed?.())) ?? true);
  const isLeft = ended === "unsettled" || !isErased || Object.values(left).some((count) => count > 0);
  return {
    ...result,
    ending: ended === "interrupted" ? ended : isLeft ? "plaintext_left" : "done",
    counts,
    next: stripAdvice(ended, left, { isErased }),
  };
}

function modeProblems(mode: ModeName): string[] {
  if (mode === "encrypted") return [];
  return [
    "Servers in mode bridge write the very copies that strip removes: set TOKEN_ENCRYPTION_MODE=encrypted for all of them, and here.",
  ];
}

/** @returns at most one sentence */
async function olderReaderProblems(
  patiently: Patiently,
  deps: { readonly rows: TokenRows; readonly now: Clock },
): Promise<string[]> {
  const until = await patiently(() => olderReadersUntil(deps));
  if (until === undefined) return [];
  const time = new Date(until * 1000).toISOString();
  return [
    `A server in mode bridge has declared that builds which read plaintext are about, until ${time}. ` +
      "Servers renew that while they run: end those in mode bridge, then wait until then.",
  ];
}
