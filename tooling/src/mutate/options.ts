/** Parses the command line of `npm run mutate`. Runs nothing. */
import { availableParallelism } from "node:os";
import { readCommand, wholeNumber } from "@oauth-broker/oauth-core/command-line";
import manifest from "../../package.json" with { type: "json" };

const HELP = `Usage: npm run mutate [-- OPTIONS]

Removes defences in turn, each in a copy of this repository under the temporary folder, and says which tests notice. Twins, which
remove the defence themselves, do not count. A defence is
  - listed in tooling/src/mutate/list/: it has to compile without it, and every test file that the entry names has to fail; if it
    names none, the test beside the file or one that carries a row of the entry
  - below a citation in product code, //= rfc7636#4.6, a guard, or each outcome of what is decided: a test whose title carries
    the citation has to fail

Options
  --only PATTERN   the defences whose sentence, file or row matches this regular expression
  --list           says which there are, and runs nothing
  --jobs N         how many at a time; default one for each two processors
  -h, --help       this text
  -v, --version    the version

Exit code: 0 every removal was noticed; 1 one was not, did not compile, or its text is not there once; 2 wrong arguments.`;

const OPTIONS = {
  only: { type: "string", default: "" },
  list: { type: "boolean", default: false },
  jobs: { type: "string", default: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
} as const;

/** @param args the arguments without the program and the script */
export function parseMutateCommand(args: readonly string[]) {
  const about = { program: "npm run mutate --", help: HELP, version: manifest.version };
  return readCommand(args, OPTIONS, about, ({ values: { list, only, jobs: text } }) => {
    return { list, only: patternOf(only), jobs: wholeNumber("--jobs", text, 1, 64) };
  });
}

function patternOf(text: string): RegExp {
  try {
    return new RegExp(text, "i");
  } catch {
    throw new Error("--only takes a regular expression");
  }
}
