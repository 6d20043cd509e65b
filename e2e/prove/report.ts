/** The proof as text, and whether it is good enough. */
import { NOT_BEHAVIOUR } from "@oauth-broker/simulators/entry-vendor";
import type { KindCount, Proof } from "./prove.ts";

/** The least share of all wrong facts together, and of each kind. */
const LEAST = { all: 0.95, kind: 0.8 } as const;

/** @returns the outcome in lines; the last says what it does not prove */
export function report({ vendors, failures, kinds, steps, idle }: Proof): string {
  const failed = failures.flatMap(({ vendor, step, why, refused }) => [
    `FAIL ${vendor}, ${step}: ${why}`,
    ...refused.map((line) => `     the simulator refused: ${line}`),
  ]);
  const rows = [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => kindLine(kind, count));
  const all = allOf(kinds);
  const missed = all.missed.map((name) => `  not noticed: ${name}`);
  const mutations =
    kinds.size === 0
      ? []
      : [
          "",
          "Wrong facts that some step notices, by kind:",
          ...rows,
          ...missed,
          kindLine("all", all),
          stepLine(steps),
          ...idle.map((fact) => `  changes nothing: ${fact}`),
          ...notBehaviour(),
        ];
  return [
    ...failed,
    `${vendors.length - failures.length} of ${vendors.length} vendors pass`,
    ...mutations,
    "",
    "This shows that the broker does what the entries say, not that the entries are true.",
  ].join("\n");
}

function kindLine(kind: string, count: KindCount): string {
  const { total } = count;
  const noticed = total - count.missed.length;
  const share = total === 0 ? 0 : noticed / total;
  return `  ${kind.padEnd(24)}${String(noticed).padStart(5)} of ${String(total).padStart(5)}  ${(share * 100).toFixed(1).padStart(5)} %`;
}

function stepLine(steps: Proof["steps"]): string {
  const counts = [...steps].toSorted(([, a], [, b]) => b - a).map(([step, count]) => `${step} ${count}`);
  return `  noticed by the steps: ${counts.join(", ")}`;
}

function notBehaviour(): string[] {
  return Object.entries(NOT_BEHAVIOUR).map(([fact, why]) => `  not a fact of behaviour: ${fact} (${why})`);
}

function allOf(kinds: Proof["kinds"]): KindCount {
  const counts = [...kinds.values()];
  return { total: counts.reduce((sum, { total }) => sum + total, 0), missed: counts.flatMap(({ missed }) => missed) };
}

/** Every vendor passes, and enough of the wrong facts are noticed. */
export function isGoodEnough({ failures, kinds }: Proof): boolean {
  const reaches = ({ missed, total }: KindCount, least: number): boolean => total - missed.length >= total * least;
  return (
    failures.length === 0 &&
    reaches(allOf(kinds), LEAST.all) &&
    // One miss of a known gap is half of a kind that a sample has two facts of.
    [...kinds.values()].every((count) => reaches(count, LEAST.kind) || (count.total > 1 && count.missed.length === 1))
  );
}
