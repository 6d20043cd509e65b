/**
 * Reads a command line in the one way of all our commands: `-h` and `--help`, `-v` and `--version`,
 * and exit code 2 with a hint for what is not understood. Runs and prints nothing, so that a
 * command which misread its arguments has done nothing.
 */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { nearest } from "./nearest.ts";

/** The command line was not understood. */
export const USAGE_EXIT_CODE = 2;

const ASKED = { help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } } as const;

/** What a command line says. `problem`: the end of a sentence, without its full stop. */
export type CommandLine<T extends ParseArgsOptionsConfig> =
  | {
      readonly kind: "given";
      readonly values: ReturnType<typeof parseArgs<{ options: T }>>["values"];
      /** What stands outside of options: a command, a file. */
      readonly words: readonly string[];
    }
  | { readonly kind: "help" | "version" }
  | { readonly kind: "invalid"; readonly problem: string };

/**
 * @param args without the program and the script, as in `process.argv.slice(2)`
 * @param options in addition to `--help` and `--version`, as `parseArgs` of `node:util` takes them.
 *   One without `multiple` may be given once
 * @param settings.words default false: a word outside of options is a mistake
 */
export function readCommandLine<const T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  { words = false }: { readonly words?: boolean } = {},
): CommandLine<T> {
  const known: ParseArgsOptionsConfig = { ...ASKED, ...options };
  try {
    const read = parseArgs({ args: [...args], options: known, allowPositionals: true, tokens: true });
    const names = read.tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
    if (names.includes("help")) return { kind: "help" };
    if (names.includes("version")) return { kind: "version" };
    const twice = names.find((name, index) => names.indexOf(name) < index && known[name]?.multiple !== true);
    if (twice !== undefined) return { kind: "invalid", problem: `--${twice} is given twice` };
    const [word] = read.positionals;
    if (word !== undefined && !words) return { kind: "invalid", problem: `'${shortened(word)}' is one word too many` };
    const values = read.values as ReturnType<typeof parseArgs<{ options: T }>>["values"];
    return { kind: "given", values, words: read.positionals };
  } catch (error) {
    return { kind: "invalid", problem: problemOf(error, known) };
  }
}

/** What is wrong with the name of a command. */
export function noSuchCommand(written: string, known: Iterable<string>): string {
  return withHint(`there is no command '${shortened(written)}'`, nearest(written, known));
}

/** The text of a refusal, for stderr. @param program as the user types it, such as `npm run bench --` */
export function usageMessage(program: string, problem: string): string {
  return `${program.replace(/^npm run (\S+) --$/, "$1")}: ${problem.replace(/[^?]$/, "$&.")}\nRun '${program} --help'.`;
}

/** What a command says instead of running, and the exit code it ends with. */
export interface UsageAnswer {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  readonly exitCode: number;
}

/** @returns undefined when the command has to run */
export function answerUsage(
  read: { readonly kind: "given" | "help" | "version" } | { readonly kind: "invalid"; readonly problem: string },
  { program, help, version }: { readonly program: string; readonly help: string; readonly version: string },
): UsageAnswer | undefined {
  switch (read.kind) {
    case "given":
      return undefined;
    case "help":
      return { stream: "stdout", text: `${help.trimEnd()}\n`, exitCode: 0 };
    case "version":
      return { stream: "stdout", text: `${version}\n`, exitCode: 0 };
    case "invalid":
      return { stream: "stderr", text: `${usageMessage(program, read.problem)}\n`, exitCode: USAGE_EXIT_CODE };
  }
}

/** Node's sentence, without its advice on positional arguments and with ours on typing errors. */
function problemOf(error: unknown, options: ParseArgsOptionsConfig): string {
  const [sentence = ""] = error instanceof Error ? error.message.split(/\. |\n/) : [];
  if (sentence === "") return "the options are not understood";
  const unknown = /^Unknown option '--([^']+)'$/.exec(sentence)?.[1];
  const meant = unknown === undefined ? undefined : nearest(unknown, Object.keys(options));
  return withHint(sentence.replace(/\.$/, ""), meant === undefined ? undefined : `--${meant}`);
}

const withHint = (problem: string, meant: string | undefined): string =>
  meant === undefined ? problem : `${problem}: did you mean ${meant}?`;

const shortened = (word: string): string => word.slice(0, 40);
