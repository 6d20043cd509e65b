/**
 * Removes one defence in a working copy, compiles and runs the tests, and restores it. Called by
 * run.ts.
 */
import { mutate, type Mutation } from "./mutation.ts";
import { compile, runTests, workspaceOf } from "./run-tests.ts";
import type { WorkingCopy } from "./working-copy.ts";

export interface Outcome {
  readonly mutation: Mutation;
  /** By test file: the first test that fails without the defence. */
  readonly noticedBy: ReadonlyMap<string, string>;
  /** The named files that do not notice. */
  readonly silent: readonly string[];
  /** Why the mutation could not be tried. */
  readonly problem?: string;
}

/** Every named test file notices; of those that were found, one. */
export function isNoticed({ mutation, noticedBy, silent, problem }: Outcome): boolean {
  return problem === undefined && noticedBy.size > 0 && (mutation.isOneEnough === true || silent.length === 0);
}

export async function tryMutation(mutation: Mutation, copy: WorkingCopy): Promise<Outcome> {
  const before = copy.read(mutation.file);
  const mutated = mutate(mutation, before);
  if ("problem" in mutated) return untried(mutation, mutated.problem);
  copy.write(mutation.file, mutated.text);
  try {
    const { byRule: isByRule = false, isOneEnough = false } = mutation;
    const complaint = isByRule ? undefined : await compile(copy.root, workspaceOf(copy.root, mutation.file));
    if (complaint !== undefined) return untried(mutation, `it does not compile: ${complaint}`);
    const noticedBy = new Map<string, string>();
    const silent: string[] = [];
    for (const path of mutation.tests) {
      const { failed, broken } = await runTests(copy.root, [path], true);
      const [first] = failed;
      if (first !== undefined) noticedBy.set(path, first);
      if (first !== undefined && isOneEnough) break;
      if (first !== undefined) continue;
      if (broken === undefined) silent.push(path);
      else return untried(mutation, broken);
    }
    return { mutation, noticedBy, silent };
  } finally {
    copy.write(mutation.file, before);
  }
}

function untried(mutation: Mutation, problem: string): Outcome {
  return { mutation, noticedBy: new Map(), silent: [], problem };
}
