/**
 * One defence and the text whose replacement removes it. The lists in list/ contain them;
 * try-mutation.ts tries each.
 */

/** By file from the root, then by a sentence that says what the defence does. */
export type DefencesByFile = Readonly<Record<string, Readonly<Record<string, ListedDefence>>>>;

/** As {@link Mutation} says; without `tests`, the test beside the file notices. */
export type ListedDefence = Pick<Mutation, "rows" | "find" | "replace"> & Partial<Pick<Mutation, "tests">>;

export interface Mutation {
  /** One sentence: what the defence does. */
  readonly defence: string;
  /** Rows of docs/security-requirements.md that depend on it, if there are any. */
  readonly rows?: readonly string[];
  /** From the root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  /** Without the defence; the workspace still compiles. */
  readonly replace: string;
  /**
   * Test files, from the root, each of which notices. No twin: a twin removes the defence itself.
   */
  readonly tests: readonly string[];
  /**
   * Found by its citation, as guards.ts says: its tests are found by their titles, so that one that
   * notices is enough; and without a guard the types may no longer fit, so it is not compiled.
   */
  readonly byRule?: boolean;
}

/** @returns the text without the defence, or why it cannot be removed */
export function mutate({ file, find, replace }: Mutation, text: string): { text: string } | { problem: string } {
  const count = text.split(find).length - 1;
  if (count !== 1) return { problem: `the text to find occurs ${count} times in ${file}, and must occur once` };
  return { text: text.replace(find, () => replace) };
}
