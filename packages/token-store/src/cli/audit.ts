/**
 * `token-store audit`: counts the rows of each kind. By attributes alone; with --verify every
 * sealed row is opened.
 */
import type { Options } from "./arguments.ts";
import { auditAdvice } from "./advice.ts";
import { inspect } from "./row-kinds.ts";
import { type Result, STOPPED } from "./report.ts";
import { survey } from "./survey.ts";
import { type CommandDeps, paceOf } from "./walk.ts";

/**
 * @returns `unreadable_found` when --verify found a problem, else `plaintext_left` when a row is
 *   plaintext only
 */
export async function audit(
  { byVendor, verify, list, issuers, rate }: Pick<Options, "byVendor" | "verify" | "list" | "issuers" | "rate">,
  deps: CommandDeps,
): Promise<Result> {
  const pace = paceOf(rate, deps);
  const { dataKeys, rows } = deps;
  const verified = { opens: 0, differs: 0, unreadable: 0, unknown_issuer: 0 };

  const tally = await survey(
    {
      command: "audit",
      look: async (row, { kind, names }) => {
        const show = (what: string): void => {
          if (what === list && names !== undefined) deps.report({ event: "row", kind: what, ...names });
        };
        show(kind);
        if (!verify || (kind !== "both" && kind !== "ciphertext_only" && kind !== "broken")) return;
        const issuer = issuers.get(names?.vendor ?? "");
        if (issuer === undefined || dataKeys === undefined) {
          verified.unknown_issuer += 1;
          return;
        }
        await pace.works.take();
        const result = await pace.retry(() => inspect(row, issuer, { ...deps, dataKeys }));
        verified[result] += 1;
        show(result);
      },
    },
    pace,
    deps,
  );
  const result = { command: "audit", table: rows.table } as const;
  if (tally === undefined) return { ...result, ...STOPPED };
  const counts = { ...tally.total(), ...(verify ? verified : {}) };
  const isWrong = verified.differs + verified.unreadable > 0;
  const ending = isWrong ? "unreadable_found" : counts.plaintext_only > 0 ? "plaintext_left" : "done";
  return {
    ...result,
    ending,
    counts,
    ...(byVendor ? { byVendor: Object.fromEntries(tally.byVendor()) } : {}),
    next: auditAdvice(tally, verify ? verified : undefined, deps.program),
  };
}
