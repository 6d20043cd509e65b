/**
 * `npm run mutate`: removes each defence in turn and reports which tests notice. Opt-in;
 * check-mutations.ts keeps the list in working order. options.ts reads the command line, run.ts runs it.
 */
import { answerUsage, stoppable, TERMINAL } from "@oauth-broker/oauth-core/command-line";
import { ROOT } from "../sources.ts";
import { readGuards } from "./guards.ts";
import { readListed } from "./list.ts";
import { parseMutateCommand } from "./options.ts";
import { runMutations } from "./run.ts";
import { readTests } from "./tests.ts";

const { print: say } = TERMINAL;

async function main(): Promise<number> {
  const command = parseMutateCommand(process.argv.slice(2));
  if ("exitCode" in command) return answerUsage(command);
  const tests = readTests();
  const chosen = [...readGuards(tests), ...readListed(tests)].filter(({ defence, file, rows = [] }) =>
    [defence, file, ...rows].some((text) => command.only.test(text)),
  );
  if (command.list) {
    for (const { defence, rows = [], file } of chosen) say([file, rows.join(" "), defence].join("\t"));
    return 0;
  }
  if (chosen.length === 0) {
    TERMINAL.say("mutate: no defence matches. Run 'npm run mutate -- --list'.");
    return 2;
  }
  const survivors = await stoppable((stopped) =>
    runMutations(chosen, { root: ROOT, jobs: command.jobs, say, stopped }),
  );
  return survivors === 0 ? 0 : 1;
}

process.exitCode = await main();
