/** The command line of the programs of this workspace, read as all our commands read theirs. */
import type { ParseArgsOptionsConfig } from "node:util";
import { answerUsage, type Given, type Program, readCommand } from "@oauth-broker/oauth-core/command-line";
import manifest from "../package.json" with { type: "json" };

/**
 * Prints help, the version or what is wrong, and sets the exit code.
 *
 * @param about.program as the user types it, such as `npm run bench --`
 * @param parse throws an Error with a sentence for the user
 * @returns undefined when that was all
 */
export function readProgram<const T extends ParseArgsOptionsConfig, Parsed>(
  options: T,
  about: Omit<Program, "version">,
  parse: (given: Given<T>) => Parsed,
  args: readonly string[] = process.argv.slice(2),
): Parsed | undefined {
  const read = readCommand(args, options, { ...about, version: manifest.version }, (given) => ({
    parsed: parse(given),
  }));
  if ("parsed" in read) return read.parsed;
  process.exitCode = answerUsage(read);
  return undefined;
}

/** Prints a line of progress. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Runs what takes minutes: it ends at a signal, and an error is printed with its causes; the exit code is 1 then. */
export async function runProgram(run: () => Promise<void>): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  try {
    await run();
  } catch (error) {
    say(error instanceof Error ? withCauses(error) : String(error));
    process.exitCode = 1;
  }
}

function withCauses(error: Error): string {
  return error.cause instanceof Error ? `${error.message}\n  ${withCauses(error.cause)}` : error.message;
}
