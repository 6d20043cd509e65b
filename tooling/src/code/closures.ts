/**
 * How much code a leg makes its reader read: the files it reaches by imports of values, except
 * egress and the stores. Names are followed through index files to their declarations. Written into
 * docs/flows.md, between its two marks.
 */
import { table } from "../tables.ts";
import { type SourceFile, targetOf } from "../sources.ts";

interface Leg {
  readonly name: string;
  readonly start: string;
  /** What the leg is given as a dependency and runs on, counted with it. */
  readonly runsOn?: string;
}

const BROKER = "apps/broker/src/flows";
const HOSTED = "packages/mcp-auth/src/hosted";
const ENGINE = "packages/oauth-core/src/brokered-code/index.ts";

/** A leg that asks more of its reader is to be cut. */
const MOST_FILES = 50;
const MOST_LINES = 6_300;

/** Each starts with the file that lists the steps of the leg. */
export const LEGS: readonly Leg[] = [
  { name: "`POST /v1/par`", start: `${BROKER}/par.ts` },
  { name: "`/v1/authorize`", start: `${BROKER}/authorize.ts` },
  { name: "`/v1/callback`", start: `${BROKER}/finish-callback.ts`, runsOn: ENGINE },
  { name: "`POST /v1/token`, code", start: `${BROKER}/redeem-broker-code.ts`, runsOn: ENGINE },
  { name: "`POST /v1/token`, refresh", start: `${BROKER}/refresh.ts` },
  { name: "`POST /v1/check`", start: `${BROKER}/check.ts` },
  { name: "a deployed server, `/authorize`", start: `${HOSTED}/server-callback/authorize.ts`, runsOn: ENGINE },
  {
    name: "a deployed server, `POST /token`, code",
    start: `${HOSTED}/server-callback/redeem-own-code.ts`,
    runsOn: ENGINE,
  },
];

/** Read separately, from any leg. */
const APART = /^packages\/(oauth-core\/src\/egress|token-store)\//;

export const FIRST_MARK = "<!-- closures: written by `npm run docs` -->";
export const LAST_MARK = "<!-- end of closures -->";

interface Measured extends Leg {
  readonly count: number;
  readonly lines: number;
}

/** @param entries package name and entry → path of the file it exports */
export function measureLegs(
  files: readonly SourceFile[],
  entries: ReadonlyMap<string, string>,
  legs: readonly Leg[] = LEGS,
): Measured[] {
  const closureOf = closures(files, entries);
  return legs.map((leg) => {
    const starts = leg.runsOn === undefined ? [leg.start] : [leg.start, leg.runsOn];
    const reached = new Set(starts.flatMap(closureOf));
    const lines = [...reached].reduce((sum, { text }) => sum + text.trimEnd().split("\n").length, 0);
    return { ...leg, count: reached.size, lines };
  });
}

/** The table, between its marks. */
export function renderClosures(legs: readonly Measured[]): string {
  const rows = legs.map(({ name, start, count, lines }) => [name, `\`${start}\``, `${count}`, `${lines}`]);
  return [FIRST_MARK, table(["leg", "begins in", "files", "lines"], rows), LAST_MARK].join("\n\n");
}

/** @returns a problem for each leg that makes its reader read too much */
export function checkClosures(legs: readonly Measured[]): string[] {
  return legs
    .filter(({ count, lines }) => count > MOST_FILES || lines > MOST_LINES)
    .map(
      ({ start, count, lines }) =>
        `${start}: reaches ${count} files with ${lines} lines; a leg has at most ${MOST_FILES} and ${MOST_LINES}`,
    );
}

/** @returns the page with new closures; unchanged when it has no marks */
export function withClosures(page: string, closures: string): string {
  const [before, rest] = page.split(FIRST_MARK);
  const after = rest?.split(LAST_MARK)[1];
  return before === undefined || after === undefined ? page : before + closures + after;
}

function closures(files: readonly SourceFile[], entries: ReadonlyMap<string, string>) {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const target = ({ path }: SourceFile, specifier: string): SourceFile | undefined =>
    byPath.get(targetOf(path, specifier, entries) ?? "");

  /** The declaration of a name, followed through re-exports. */
  const homeOf = (file: SourceFile, name: string, seen = new Set<string>()): SourceFile | undefined => {
    if (file.declarations.some((declared) => declared.name === name)) return file;
    if (seen.has(file.path)) return undefined;
    seen.add(file.path);
    for (const { specifier, values } of file.imports) {
      const next = values.includes(name) || values.includes("*") ? target(file, specifier) : undefined;
      const home = next === undefined ? undefined : homeOf(next, name, seen);
      if (home !== undefined) return home;
    }
    return undefined;
  };

  return (start: string): SourceFile[] => {
    const first = byPath.get(start);
    if (first === undefined) throw new Error(`${start} does not exist. Correct LEGS in closures.ts`);
    const reached = new Set([first]);
    for (const file of reached) {
      for (const { specifier, values } of file.imports) {
        const next = target(file, specifier);
        if (next === undefined) continue;
        for (const name of values) {
          const home = name === "*" ? next : (homeOf(next, name) ?? next);
          if (!APART.test(home.path)) reached.add(home);
        }
      }
    }
    return [...reached];
  };
}
