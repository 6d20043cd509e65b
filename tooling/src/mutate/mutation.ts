/** One defence and the text whose replacement removes it. try-mutation.ts tries each. */

/** By file from the folder of the list: by an entry as list.ts has it, the change. */
export type Defences = Readonly<Record<string, Readonly<Record<string, string>>>>;

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
  /** Test files, from the root. No twin: a twin removes the defence itself. */
  readonly tests: readonly string[];
  /** The tests were found, not named: one that notices is enough. */
  readonly isOneEnough?: boolean;
  /** Found by its citation: without a guard the types may no longer fit, so it is not compiled. */
  readonly byRule?: boolean;
}

/** @returns the text without the defence, or why it cannot be removed */
export function mutate(
  { file, find, replace }: Pick<Mutation, "file" | "find" | "replace">,
  text: string,
): { text: string } | { problem: string } {
  const count = text.split(find).length - 1;
  if (count !== 1) return { problem: `the text to find occurs ${count} times in ${file}, and must occur once` };
  return { text: text.replace(find, () => replace) };
}
