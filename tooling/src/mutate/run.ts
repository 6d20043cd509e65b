/** Tries a list of mutations, several at a time, and says what came of each. Called by main.ts. */
import type { Mutation } from "./mutation.ts";
import { runTests, workspaceOf } from "./run-tests.ts";
import { isNoticed, type Outcome, tryMutation } from "./try-mutation.ts";
import { copyRepository, type WorkingCopy } from "./working-copy.ts";

export interface MutateRun {
  readonly root: string;
  readonly jobs: number;
  readonly say: (line: string) => void;
  /** Milliseconds, monotonic. */
  readonly elapsed: () => number;
  /** Set when the program is told to stop: no further mutation begins. */
  readonly stopped: AbortSignal;
}

interface Timed extends Outcome {
  readonly seconds: number;
}

/** @returns how many of the mutations were not noticed, or could not be tried; every one of them when tests fail as it is */
export async function runMutations(mutations: readonly Mutation[], world: MutateRun): Promise<number> {
  const copies: WorkingCopy[] = [];
  try {
    for (let job = 0; job < Math.min(world.jobs, mutations.length); job += 1) copies.push(copyRepository(world.root));
    const [first] = copies;
    if (first === undefined || !(await isGreen(mutations, first, world))) return mutations.length;

    const outcomes: Timed[] = [];
    const waiting = [...mutations];
    const work = async (copy: WorkingCopy): Promise<void> => {
      while (!world.stopped.aborted) {
        const mutation = waiting.shift();
        if (mutation === undefined) return;
        const from = world.elapsed();
        // One after the other in each copy: they share its files.
        // oxlint-disable-next-line no-await-in-loop
        const outcome = await tryMutation(mutation, copy);
        const timed = { ...outcome, seconds: (world.elapsed() - from) / 1000 };
        outcomes.push(timed);
        world.say(progress(timed, outcomes.length, mutations.length));
      }
    };
    await Promise.all(copies.map(work));

    for (const line of report(outcomes)) world.say(line);
    const survivors = outcomes.filter((outcome) => !isNoticed(outcome)).length + waiting.length;
    world.say(`${counted(mutations.length, "defence")}, ${counted(survivors, "survivor")}`);
    return survivors;
  } finally {
    for (const copy of copies) copy.remove();
  }
}

/** A test that fails anyway notices nothing. */
async function isGreen(
  mutations: readonly Mutation[],
  copy: WorkingCopy,
  { say, stopped }: MutateRun,
): Promise<boolean> {
  const paths = new Set(mutations.flatMap(({ tests }) => tests));
  say(`${mutations.length} defences. First the ${paths.size} test files as they are.`);
  const byWorkspace = Map.groupBy(paths, (path) => workspaceOf(copy.root, path));
  let green = true;
  for (const [workspace, files] of byWorkspace) {
    if (stopped.aborted) return false;
    // oxlint-disable-next-line no-await-in-loop
    const { problems, passed } = await runTwiceIfNeeded(files, copy);
    if (problems.length > 0 || passed === 0) green = false;
    say(`${problems.length > 0 || passed === 0 ? "failed" : "ok    "}  ${workspace}: ${passed} passed`);
    for (const problem of problems) say(`        ${problem}`);
  }
  if (!green) say("Tests fail without any mutation, so that none can be tried.");
  return green;
}

/** What failed among others may have failed for want of time: it is run once more, file by file. */
async function runTwiceIfNeeded(
  files: readonly string[],
  copy: WorkingCopy,
): Promise<{ readonly problems: readonly string[]; readonly passed: number }> {
  const { failedFiles, passed, broken } = await runTests(copy.root, files, false);
  const problems: string[] = [];
  for (const path of broken === undefined ? failedFiles : files) {
    // oxlint-disable-next-line no-await-in-loop
    const again = await runTests(copy.root, [path], false);
    problems.push(...again.failed, ...(again.broken === undefined ? [] : [again.broken]));
  }
  return { problems, passed };
}

function progress(outcome: Timed, count: number, total: number): string {
  const { mutation, seconds, problem, silent } = outcome;
  const word = isNoticed(outcome) ? "noticed " : "SURVIVED";
  const more = problem ?? (silent.length > 0 ? `silent: ${silent.join(", ")}` : "");
  const line = `[${String(count).padStart(3)}/${total}] ${word} ${seconds.toFixed(1).padStart(6)} s  ${mutation.defence}`;
  return more === "" ? line : `${line}\n        ${mutation.file}: ${more}`;
}

function report(outcomes: readonly Timed[]): string[] {
  const cell = (text: string): string => text.replaceAll("|", "\\|").replace(/\s+/g, " ");
  const rows = outcomes.map((outcome) => {
    const by = [...outcome.noticedBy].map(([path, title]) => `${path}: ${title}`);
    const found = isNoticed(outcome) ? by.join("; ") : `**survived** ${outcome.problem ?? outcome.silent.join(", ")}`;
    return `| ${cell(outcome.mutation.defence)} | ${cell(found)} | ${outcome.seconds.toFixed(1)} s |`;
  });
  return ["", "| defence | noticed by | time |", "| --- | --- | --- |", ...rows, ""];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
