/** Tries a list of mutations, several at a time, and reports the results. Called by main.ts. */
import type { Mutation } from "./mutation.ts";
import { runTests, workspaceOf } from "./run-tests.ts";
import { isNoticed, type Outcome, tryMutation } from "./try-mutation.ts";
import { copyRepository, type WorkingCopy } from "./working-copy.ts";

export interface MutateRun {
  readonly root: string;
  readonly jobs: number;
  readonly say: (line: string) => void;
  /** Aborted when the program should stop: no further mutation begins. */
  readonly stopped: AbortSignal;
}

interface Timed extends Outcome {
  readonly seconds: number;
}

/**
 * @returns how many of the mutations were not noticed, or could not be tried; all of them when
 *   tests fail without a mutation
 */
export async function runMutations(mutations: readonly Mutation[], environment: MutateRun): Promise<number> {
  const copies: WorkingCopy[] = [];
  try {
    for (let job = 0; job < Math.min(environment.jobs, mutations.length); job += 1)
      copies.push(copyRepository(environment.root));
    const [first] = copies;
    if (first === undefined || !(await isGreen(mutations, first, environment))) return mutations.length;

    const outcomes: Timed[] = [];
    const waiting = [...mutations];
    const isStopped = (): boolean => environment.stopped.aborted;
    const work = async (copy: WorkingCopy): Promise<void> => {
      while (!isStopped()) {
        const mutation = waiting.shift();
        if (mutation === undefined) return;
        const from = performance.now();
        // One after the other in each copy, because they share its files.
        const outcome = await tryMutation(mutation, copy);
        // Its tests were stopped too: that they noticed nothing says nothing.
        if (isStopped() && !isNoticed(outcome)) return void waiting.push(mutation);
        const timed = { ...outcome, seconds: (performance.now() - from) / 1000 };
        outcomes.push(timed);
        environment.say(progress(timed, outcomes.length, mutations.length));
      }
    };
    await Promise.all(copies.map(work));

    const survivors = outcomes.filter((outcome) => !isNoticed(outcome)).length;
    const untried = waiting.length === 0 ? "" : `, ${waiting.length} not tried`;
    environment.say(`${counted(mutations.length, "defence")}, ${counted(survivors, "survivor")}${untried}`);
    return survivors + waiting.length;
  } finally {
    for (const copy of copies) copy.remove();
  }
}

/** A test that fails anyway proves nothing. */
async function isGreen(
  mutations: readonly Mutation[],
  copy: WorkingCopy,
  { say, stopped }: MutateRun,
): Promise<boolean> {
  const paths = new Set(mutations.flatMap(({ tests }) => tests));
  say(`${mutations.length} defences. First the ${paths.size} test files without a mutation.`);
  const byWorkspace = Map.groupBy(paths, (path) => workspaceOf(copy.root, path));
  let green = true;
  for (const [workspace, files] of byWorkspace) {
    if (stopped.aborted) return false;
    // oxlint-disable-next-line no-await-in-loop
    const { failed, broken, passed } = await runTests(copy.root, files, false);
    // oxlint-disable-next-line no-await-in-loop
    const problems = failed.length === 0 && broken === undefined ? [] : await runEachAlone(files, copy);
    if (problems.length > 0 || passed === 0) green = false;
    say(`${problems.length > 0 || passed === 0 ? "failed" : "ok    "}  ${workspace}: ${passed} passed`);
    for (const problem of problems) say(`        ${problem}`);
  }
  if (!green) say("Tests fail without any mutation, so none can be tried. Correct them first.");
  return green;
}

/** A failure among others may be a timeout. */
async function runEachAlone(files: readonly string[], copy: WorkingCopy): Promise<string[]> {
  const problems: string[] = [];
  for (const path of files) {
    // oxlint-disable-next-line no-await-in-loop
    const { failed, broken } = await runTests(copy.root, [path], false);
    problems.push(...failed, ...(broken === undefined ? [] : [broken]));
  }
  return problems;
}

function progress(outcome: Timed, count: number, total: number): string {
  const { mutation, seconds, problem, silent, noticedBy } = outcome;
  const isKilled = isNoticed(outcome);
  const tests = [...noticedBy].map(([path, title]) => `${path}: ${title}`);
  const more = isKilled ? tests.join("; ") : `${mutation.file}: ${problem ?? `silent: ${silent.join(", ")}`}`;
  const word = isKilled ? "noticed " : "SURVIVED";
  return `[${String(count).padStart(3)}/${total}] ${word} ${seconds.toFixed(1).padStart(6)} s  ${mutation.defence}\n        ${more}`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
