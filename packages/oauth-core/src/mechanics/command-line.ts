/**
 * Reads a command line in the one way of all our commands: `-h` and `--help`, `-v` and `--version`,
 * and exit code 2 with a hint for what is not understood. Reading runs and prints
 * nothing, so that a command which misread its arguments has done nothing.
 */
import { constants } from "node:os";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { nearest } from "./nearest.ts";
import { systemTimer } from "./system-timer.ts";

/** The command line was not understood. */
export const USAGE_EXIT_CODE = 2;

const ASKED = { help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } } as const;

type Values<T extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: T }>>["values"];

/** What a command line says. */
export interface Given<T extends ParseArgsOptionsConfig> {
  readonly values: Values<T>;
  /** What stands outside of options: a command, a file. */
  readonly words: readonly string[];
}

/** A program, as its user sees it. */
export interface Program {
  /** As the user types it, such as `npm run bench --`. */
  readonly program: string;
  readonly help: string;
  readonly version: string;
  /** Default false: a word outside of options is a mistake. */
  readonly words?: boolean;
  /** What the first word may be, beside `help`. With it, words are accepted. */
  readonly commands?: readonly string[];
}

/** What a command says instead of running, and the exit code it ends with. */
export interface UsageAnswer {
  readonly stream: "stdout" | "stderr";
  /** Without the last line's end. */
  readonly text: string;
  readonly exitCode: number;
}

/**
 * @param args without the program and the script, as in `process.argv.slice(2)`
 * @param options in addition to `--help` and `--version`, as `parseArgs` of `node:util` takes them.
 *   One without `multiple` may be given once
 * @param understand throws an Error whose message is the problem: the end of a sentence, without its full stop
 * @returns what `understand` returns, or an answer if the command does not have to run
 */
export function readCommand<const T extends ParseArgsOptionsConfig, Command extends object>(
  args: readonly string[],
  options: T,
  { program, help, version, commands, words = commands !== undefined }: Program,
  understand: (given: Given<T>) => Command,
): Command | UsageAnswer {
  const known: ParseArgsOptionsConfig = { ...ASKED, ...options };
  const refused = (problem: string): UsageAnswer => ({
    stream: "stderr",
    text: usageMessage(program, problem),
    exitCode: USAGE_EXIT_CODE,
  });
  try {
    const { tokens, positionals, values } = parse(args, known);
    const names = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
    const [word] = positionals;
    if (names.includes("help") || (commands !== undefined && word === "help"))
      return { stream: "stdout", text: help.trimEnd(), exitCode: 0 };
    if (names.includes("version")) return { stream: "stdout", text: version, exitCode: 0 };
    const twice = names.find((name, index) => names.indexOf(name) < index && known[name]?.multiple !== true);
    if (twice !== undefined) return refused(`--${twice} is given twice`);
    if (word !== undefined && !words) return refused(`'${shortened(word)}' is one word too many`);
    if (word !== undefined && commands?.includes(word) === false)
      return refused(noSuchCommand(word, [...commands, "help"]));
    return understand({ values: values as Values<T>, words: positionals });
  } catch (error) {
    // A TypeError and the like is a mistake of the program, not of its user.
    if (!(error instanceof Error) || error.name !== "Error") throw error;
    return refused(error.message);
  }
}

/** @throws Error whose message is the problem */
function parse(args: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, tokens: true });
  } catch (error) {
    throw new Error(problemOf(error, options), { cause: error });
  }
}

const ENDED_BY_SIGPIPE = 128 + constants.signals.SIGPIPE;

/** Where a command prints: its results, and what it says to its user. */
export type Output = Readonly<Record<"print" | "say", (text: string) => void>>;

/** Results on stdout, the rest on stderr, a line each. */
export const TERMINAL: Output = {
  print: (text) => void terminalStreams().stdout.write(`${text}\n`),
  say: (text) => void terminalStreams().stderr.write(`${text}\n`),
};

/** For a command that writes more than lines. What cannot be written ends none with a stack. */
export function terminalStreams(): Pick<NodeJS.Process, "stdout" | "stderr"> {
  const [stdout, stderr] = [process.stdout, process.stderr];
  if (stdout.listenerCount("error") === 0) stdout.on("error", reportUnwritten);
  if (stderr.listenerCount("error") === 0) stderr.on("error", () => undefined);
  return { stdout, stderr };
}

/**
 * A reader that is gone has read enough: a command that still works ends as by SIGPIPE. Results that
 * cannot be written are a failure.
 */
function reportUnwritten({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") process.exit(process.exitCode ?? ENDED_BY_SIGPIPE);
  TERMINAL.say(message);
  process.once("exit", () => void (process.exitCode = 1));
}

/** A name that others chose, for a terminal. */
export function printable(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}

const SAME_CTRL_C_MS = 1000;

/**
 * Runs what SIGINT and SIGTERM stop. A second signal ends the process, unless it follows at once: a
 * terminal sends one Ctrl-C to npm and to its command, and npm passes it on.
 *
 * @param work its signal's `reason` is the name of the signal that came first
 */
export async function stoppable<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let stoppedMs: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    stoppedMs ??= systemTimer.elapsedMs();
    stop.abort(signal);
    if (systemTimer.elapsedMs() - stoppedMs > SAME_CTRL_C_MS) process.exit(128 + constants.signals[signal]);
  };
  for (const name of names) process.on(name, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    // The others may still come.
    if (stoppedMs === undefined) for (const name of names) process.removeListener(name, onSignal);
  }
}

/** Prints the answer. @returns the exit code */
export function answerUsage({ stream, text, exitCode }: UsageAnswer, { print, say }: Output = TERMINAL): number {
  (stream === "stdout" ? print : say)(text);
  return exitCode;
}

/** What is wrong with the name of a command. */
export function noSuchCommand(written: string, known: Iterable<string>): string {
  return withHint(`there is no command '${shortened(written)}'`, nearest(written, known));
}

/**
 * The value of an option that takes a number.
 *
 * @throws Error whose message is the problem
 */
export function wholeNumber(option: string, text: string, from = 1, to = 9_999_999): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : -1;
  if (number < from || number > to) throw new Error(`${option} takes a whole number from ${from} to ${to}`);
  return number;
}

/**
 * The values of an option that is given once for each name.
 *
 * @param form what it takes, such as `VENDOR=ISSUER`; the first `=` ends the name
 * @throws Error whose message is the problem
 */
export function namedValues(option: string, form: string, given: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const pair of given) {
    const [, name = "", value = ""] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    if (name === "") throw new Error(`${option} takes ${form}, not '${pair.slice(0, 80)}'`);
    if (values.has(name)) throw new Error(`${option} names ${name.slice(0, 40)} twice`);
    values.set(name, value);
  }
  return values;
}

/** The text of a refusal, for stderr. @param program as the user types it, such as `npm run bench --` */
export function usageMessage(program: string, problem: string): string {
  return `${program.replace(/^npm run (\S+) --$/, "$1")}: ${problem.replace(/[^?]$/, "$&.")}\nRun '${program} --help'.`;
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
