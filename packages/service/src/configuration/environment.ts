/**
 * The one reader of environment variables. It reads them one by one and collects the problems, so
 * that all of them are reported at once. A value is never repeated: it may be a secret in the wrong
 * place.
 */
import { nearest } from "@oauth-broker/oauth-core";
import type { Problem } from "./error.ts";
import { readSecret } from "./secret-text.ts";

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns what is wrong with a value as the end of a sentence (`must be …`), or undefined. */
export type Check = (value: string) => string | undefined;

/** The expected format of a value. */
export interface VariableShape {
  /** In a few words. */
  readonly type: string;
  readonly example: string;
}

/**
 * Reads variables and collects what is wrong with them. A value that does not pass reads as absent.
 */
export interface EnvironmentReader<Name extends string = string> {
  /** The value of a variable; an empty variable counts as unset. */
  value(name: Name): string | undefined;
  /** Undefined also when the value does not pass. */
  text(name: Name, check: Check): string | undefined;
  /** By the rule of every secret (secret-text.ts). Undefined also when the value does not pass. */
  secret(name: Name, check?: Check): string | undefined;
  /**
   * Separated by commas; spaces around an entry are ignored. Entries that do not pass are left out.
   */
  list(name: Name, check: Check): string[];
  choice<const Value extends string>(name: Name, values: readonly Value[]): Value | undefined;
  flag(name: Name): boolean;
  integer(name: Name, range: { readonly least: number; readonly most: number }): number | undefined;
  /** @param problem continues the variable's name; must not contain a value */
  refuse(name: Name, problem: string): void;
  warn(warning: string): void;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** @param shapeOf the expected format that a message shows */
export function createEnvironmentReader<Name extends string>(
  environment: Environment,
  shapeOf: (name: Name) => VariableShape,
): EnvironmentReader<Name> {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const value = (name: Name): string | undefined => valueOf(environment, name);
  const refuse = (name: Name, problem: string): void => {
    const { type, example } = shapeOf(name);
    problems.push({ path: name, problem, expected: type, example: `${name}=${example}` });
  };
  const text = (name: Name, check: Check): string | undefined => {
    const found = value(name);
    const problem = found === undefined ? undefined : faultOf(found, check);
    if (problem !== undefined) refuse(name, problem);
    return problem === undefined ? found : undefined;
  };
  const secret = (name: Name, check?: Check): string | undefined => {
    const found = value(name);
    if (found === undefined) return undefined;
    const read = readSecret(found, check);
    if ("value" in read) return read.value;
    refuse(name, read.problem);
    return undefined;
  };
  const choice = <const Value extends string>(name: Name, values: readonly Value[]): Value | undefined => {
    const known = (written: string | undefined) => values.find((one) => one === written);
    return known(
      text(name, (written) => (known(written) === undefined ? `must be ${values.join(" or ")}` : undefined)),
    );
  };
  return {
    value,
    text,
    secret,
    list: (name, check) => {
      const given = splitList(value(name));
      const faults = [
        ...new Set(given.map((entry) => faultOf(entry, check)).filter((problem) => problem !== undefined)),
      ];
      for (const problem of faults) refuse(name, `has an entry that ${problem}`);
      return given.filter((entry) => check(entry) === undefined);
    },
    choice,
    flag: (name) => choice(name, ["true", "false"]) === "true",
    integer: (name, { least, most }) => {
      const found = text(name, (written) =>
        /^\d{1,9}$/.test(written) && Number(written) >= least && Number(written) <= most
          ? undefined
          : `must be a whole number from ${least} to ${most}`,
      );
      return found === undefined ? undefined : Number(found);
    },
    refuse,
    warn: (warning) => void warnings.push(warning),
    problems,
    warnings,
  };
}

/** Says more of a value that reads right: `--env-file` keeps quotation marks, a mounted file its line end. */
function faultOf(value: string, check: Check): string | undefined {
  const problem = check(value);
  if (problem === undefined || !/^[\s"']|[\s"']$/.test(value)) return problem;
  return `${problem}; it begins or ends with white space or a quotation mark`;
}

/** The value of a variable; an empty variable counts as unset. */
export function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  return value === "" ? undefined : value;
}

/** Variables by which other programs get a proxy. None of them is read. */
const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_USE_ENV_PROXY"];

/**
 * @param setting our setting that does what they promise
 * @returns a warning if one of them is set: outbound calls ignore it
 */
//= bar#EG-11
export function ignoredProxyWarnings(environment: Environment, setting: string): string[] {
  const set = PROXY_VARIABLES.filter((name) => valueOf(environment, name) !== undefined);
  if (set.length === 0) return [];
  return [
    `${set.join(", ")} ${set.length === 1 ? "is" : "are"} set and not read: calls to vendors go out without a proxy. Set ${setting} for a proxy`,
  ];
}

/** The entries of a comma-separated list, without duplicates or surrounding spaces. */
export function splitList(text = ""): string[] {
  const entries = text.split(",").map((entry) => entry.trim());
  return [...new Set(entries.filter((entry) => entry !== ""))];
}

/**
 * The folder a command was started in: npm runs scripts in the package's folder and passes the
 * original one in INIT_CWD.
 */
export function startFolder(environment: Environment): string {
  return valueOf(environment, "INIT_CWD") ?? process.cwd();
}

/** So few wrong letters that it cannot be another program's variable. */
const TYPING_ERRORS = 2;
const SHORTEST_NAME = 9;

/**
 * @param ours names of variables; short ones are near to those of other programs, and left out
 * @returns the one that a misspelt name means; undefined for a name that may be another program's
 */
export function variableMeant(name: string, ours: Iterable<string>): string | undefined {
  const long = [...ours].filter(({ length }) => length >= SHORTEST_NAME);
  return nearest(name, long, TYPING_ERRORS);
}
