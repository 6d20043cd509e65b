/** Reads variables one by one and keeps what is wrong with them, so that all of it is told at once. A value is never repeated. */
import type { Problem } from "@oauth-broker/oauth-core/service";
import { type VariableName, variableNamed } from "./variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Says what is wrong with a value as the end of a sentence (`must be …`), or nothing. */
export type Check = (value: string) => string | undefined;

export interface Reader {
  /** The value of a variable; one that is set to nothing is not set. */
  value(name: VariableName): string | undefined;
  /** Undefined also where it does not pass. */
  text(name: VariableName, check: Check): string | undefined;
  /** Separated by commas; spaces around an entry do not count. Entries that do not pass are left out. */
  list(name: VariableName, check: Check): string[];
  choice<const Value extends string>(name: VariableName, values: readonly Value[]): Value | undefined;
  flag(name: VariableName): boolean;
  integer(name: VariableName, range: { readonly least: number; readonly most: number }): number | undefined;
  /** @param problem continues the variable's name; never with a value in it */
  refuse(name: VariableName, problem: string): void;
  warn(warning: string): void;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

export function createReader(environment: Environment): Reader {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const value = (name: VariableName): string | undefined => {
    const found = environment[name];
    return found === "" ? undefined : found;
  };
  const refuse = (name: VariableName, problem: string): void => {
    const { type, example } = variableNamed(name);
    problems.push({ path: name, problem, expected: type, example: `${name}=${example}` });
  };
  const text = (name: VariableName, check: Check): string | undefined => {
    const found = value(name);
    const problem = found === undefined ? undefined : check(found);
    if (problem !== undefined) refuse(name, problem);
    return problem === undefined ? found : undefined;
  };
  const choice = <const Value extends string>(name: VariableName, values: readonly Value[]): Value | undefined => {
    const found = value(name);
    const known = values.find((one) => one === found);
    if (found !== undefined && known === undefined) refuse(name, `must be ${values.join(" or ")}`);
    return known;
  };
  return {
    value,
    text,
    list: (name, check) => {
      const entries = (value(name) ?? "").split(",").map((entry) => entry.trim());
      const given = [...new Set(entries.filter((entry) => entry !== ""))];
      const faults = [...new Set(given.map(check).filter((problem) => problem !== undefined))];
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
