// The command line of a script, as all our commands read theirs: packages/oauth-core's
// mechanics/command-line.ts. A script that has to say something about it ends here, before it has
// done anything.
import { readFileSync } from "node:fs";
import { readCommand, USAGE_EXIT_CODE, usageMessage } from "../packages/oauth-core/src/mechanics/command-line.ts";

const version = () => JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

const OF_EVERY_COMMAND = `  -h, --help       this text
  -v, --version    the version`;

/**
 * @param about `program`: as the user types it; `takes`: what may follow; `help`: what it does, then the
 *   lines of its options; `options`: as readCommand takes them; `words`: whether it takes any
 * @returns `{ values, words }`; does not return where the answer is help, the version or a refusal
 */
export function readOptions(about, args = process.argv.slice(2)) {
  const { program, takes = "", help, options = {}, words = false } = about;
  const text = `Usage: ${program}${takes}\n\n${help}${/\n {2}.*$/.test(help) ? "" : "\n"}\n${OF_EVERY_COMMAND}`;
  const usage = { program: `${program} --`, help: text, version: version(), words };
  const read = readCommand(args, options, usage, (given) => given);
  if (read.exitCode === undefined) return read;
  process[read.stream].write(`${read.text}\n`);
  return process.exit(read.exitCode);
}

/** Ends the script: what was read is not usable. @param problem the end of a sentence */
export function refuse(problem, { program }) {
  console.error(usageMessage(`${program} --`, problem));
  process.exit(USAGE_EXIT_CODE);
}

/** @returns an error that ends a script with one sentence, without a stack */
export const refusal = (message) => Object.assign(new Error(message), { name: "Refusal" });

/**
 * Runs a script to its end.
 *
 * @param about as readOptions takes it
 * @param main gets what was read, and returns the exit code, if it is not 0; a Refusal is shown and ends it with 1
 */
export async function runScript(about, main) {
  const read = readOptions(about);
  try {
    process.exit(await main(read));
  } catch (error) {
    if (error.name !== "Refusal") throw error;
    console.error(error.message);
    process.exit(1);
  }
}
