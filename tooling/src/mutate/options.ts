/** Parses the command line of `npm run mutate`. Runs nothing. */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

export const HELP = `Usage: npm run mutate [-- OPTIONS]

Removes the defences listed in tooling/src/mutate/list/ in turn, each in a copy of this repository under the temporary folder, and says
which tests notice. A mutation has to compile, and every test file it names has to fail without the defence. Twins, which remove
the defence themselves, do not count.

Options
  --only PATTERN   the defences whose sentence, file or row matches this regular expression
  --list           says which there are, and runs nothing
  --jobs N         how many at a time; default one for each two processors
  -h, --help       this text

Exit code: 0 every removal was noticed; 1 one was not, did not compile, or its text is not there once; 2 wrong arguments.`;

export type MutateCommand =
  | { readonly name: "help" }
  | { readonly name: "invalid"; readonly message: string }
  | { readonly name: "list" | "run"; readonly only: RegExp; readonly jobs: number };

/** @param args the arguments without the program and the script */
export function parseMutateCommand(args: readonly string[]): MutateCommand {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: "string", default: "" },
        list: { type: "boolean", default: false },
        jobs: { type: "string", default: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { name: "help" };
    const jobs = Number(values.jobs);
    if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64) return invalid("--jobs takes a number from 1 to 64");
    return { name: values.list ? "list" : "run", only: new RegExp(values.only, "i"), jobs };
  } catch (error) {
    const [sentence = ""] = error instanceof Error ? error.message.split(/\. |\n/) : [];
    return invalid(sentence === "" ? "the options are not understood" : sentence);
  }
}

const invalid = (problem: string): MutateCommand => ({
  name: "invalid",
  message: `mutate: ${problem}.\nRun 'npm run mutate -- --help'.`,
});
