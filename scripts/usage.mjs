// The command line of a script, as all our commands read theirs: packages/oauth-core's
// mechanics/command-line.ts. A script that has to say something about it ends here, before it has
// done anything.
import { readFileSync } from "node:fs";
import {
  answerUsage,
  readCommandLine,
  USAGE_EXIT_CODE,
  usageMessage,
} from "../packages/oauth-core/src/mechanics/command-line.ts";

const version = () => JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

/**
 * @param about `program`: as the user types it; `help`: its text; `words`: whether it takes any
 * @returns `{ values, words }`; does not return where the answer is help, the version or a refusal
 */
export function readOptions(options, { program, help, words = false }, args = process.argv.slice(2)) {
  const read = readCommandLine(args, options, { words });
  const answer = answerUsage(read, { program, help, version: version() });
  if (answer === undefined) return read;
  process[answer.stream].write(answer.text);
  return process.exit(answer.exitCode);
}

/** Ends the script: what was read is not usable. @param problem the end of a sentence */
export function refuse(problem, { program }) {
  console.error(usageMessage(program, problem));
  process.exit(USAGE_EXIT_CODE);
}
