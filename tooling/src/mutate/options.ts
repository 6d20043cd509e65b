/** Parses the command line of `npm run mutate`. Runs nothing. */
import { availableParallelism } from "node:os";
import { readCommandLine, usageMessage } from "@oauth-broker/oauth-core";

export const HELP = `Usage: npm run mutate [-- OPTIONS]

Removes defences in turn, each in a copy of this repository under the temporary folder, and says which tests notice. Twins, which
remove the defence themselves, do not count. A defence is
  - listed in tooling/src/mutate/list/: it has to compile without it, and every test file that the entry names has to fail; if it
    names none, the test beside the file or one that carries a row of the entry
  - below a citation in product code, //= rfc7636#4.6, a guard or each part of a condition: a test whose title carries the citation
    has to fail

Options
  --only PATTERN   the defences whose sentence, file or row matches this regular expression
  --list           says which there are, and runs nothing
  --jobs N         how many at a time; default one for each two processors
  -h, --help       this text
  -v, --version    the version

Exit code: 0 every removal was noticed; 1 one was not, did not compile, or its text is not there once; 2 wrong arguments.`;

export type MutateCommand =
  | { readonly name: "help" }
  | { readonly name: "version" }
  | { readonly name: "invalid"; readonly message: string }
  | { readonly name: "list" | "run"; readonly only: RegExp; readonly jobs: number };

/** @param args the arguments without the program and the script */
export function parseMutateCommand(args: readonly string[]): MutateCommand {
  const read = readCommandLine(args, {
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    jobs: { type: "string", default: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
  });
  if (read.kind === "invalid") return invalid(read.problem);
  if (read.kind !== "given") return { name: read.kind };
  const { list, only } = read.values;
  const jobs = Number(read.values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64) return invalid("--jobs takes a number from 1 to 64");
  const pattern = patternOf(only);
  if (pattern === undefined) return invalid("--only takes a regular expression");
  return { name: list ? "list" : "run", only: pattern, jobs };
}

function patternOf(text: string): RegExp | undefined {
  try {
    return new RegExp(text, "i");
  } catch {
    return undefined;
  }
}

const invalid = (problem: string): MutateCommand => ({
  name: "invalid",
  message: usageMessage("npm run mutate --", problem),
});
