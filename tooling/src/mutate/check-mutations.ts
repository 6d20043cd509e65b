/**
 * What can be said of the mutations without a run: `npm run mutate` takes long, and must not become
 * outdated in the meantime. Run by `node tooling/src/main.ts check`.
 */
import { type Mutation, mutate } from "./mutation.ts";

/** What the mutations are checked against. */
export interface MutatedRepository {
  /** By path; undefined if there is no such file. */
  readonly textOf: (path: string) => string | undefined;
  /** The ids of the rows of the bar. */
  readonly rows: ReadonlySet<string>;
}

/** @returns what is wrong, one sentence each */
export function checkMutations(mutations: readonly Mutation[], { textOf, rows }: MutatedRepository): string[] {
  const seen = new Set<string>();
  return mutations.flatMap((mutation) => {
    const { defence, file, find, replace, tests, rows: cited = [] } = mutation;
    const taken = mutate(mutation, textOf(file) ?? "");
    const problems = [
      ...(seen.has(defence) ? ["there is another of this name"] : []),
      ...("problem" in taken ? [taken.problem] : []),
      ...(find === replace ? ["it replaces nothing"] : []),
      ...(tests.length === 0 ? ["no test has a title for it"] : []),
      ...tests.filter((path) => !path.endsWith(".test.ts") || path.endsWith(".twin.test.ts")).map(noTest),
      ...tests.filter((path) => textOf(path) === undefined).map(noFile),
      ...cited.filter((id) => !rows.has(id)).map((id) => `there is no row ${id}`),
    ];
    seen.add(defence);
    return problems.map((problem) => `the defence '${defence}': ${problem}`);
  });
}

const noTest = (path: string): string => `${path} is no test, or a twin`;
const noFile = (path: string): string => `${path} does not exist`;
