/**
 * Reads a server's variables. With `VENDORS` those of each vendor are read as those of an only one,
 * `VENDOR_<ID>_X` as `VENDOR_X`; every message names the variable as it is set.
 */
import {
  configError,
  createEnvironmentReader,
  type Environment,
  type EnvironmentReader,
  type Problem,
} from "@oauth-broker/service/configuration";
import { type ChoiceName, type NumberName, type VariableName, VARIABLES } from "./variables.ts";
import { ROWS } from "./variables/rows.ts";

/** Reads the variables of a server, and no others. */
export type Reader = EnvironmentReader<VariableName>;
/** `VENDOR_<ID>_X`, or a variable of the table. */
type PrefixedName = VariableName | `VENDOR_${string}`;
/** Reports also the variables of one vendor among several. */
export type PrefixedReader = EnvironmentReader<PrefixedName>;

/** @param source of the settings with these problems */
export function errorOf(problems: readonly Problem[], source = "its environment"): Error {
  return configError(problems, {
    service: "The server",
    source,
    next: "Correct these and start it again. The variables are described in README.md.",
  });
}

/** The variables that describe a vendor, without `VENDOR_`. */
const OF_A_VENDOR: readonly string[] = VARIABLES.flatMap(({ name }) =>
  name.startsWith("VENDOR_") ? [name.slice("VENDOR_".length)] : [],
);

export function createReader(environment: Environment): PrefixedReader {
  return createEnvironmentReader(environment, (name: PrefixedName) => {
    const split = splitPrefixed(name);
    return ROWS[(split === undefined ? name : `VENDOR_${split.of}`) as VariableName];
  });
}

/** Whether one of them cannot be used. Then it is the only problem, and what follows from it is not reported. */
export function isRefused({ problems }: Pick<Reader, "problems">, ...names: readonly VariableName[]): boolean {
  return problems.some(({ path }) => names.some((name) => name === path));
}

/** A whole number, or the default of its row. */
export function readNumber(read: Reader, name: Exclude<NumberName, "METRICS_PORT">): number {
  return read.integer(name, ROWS[name].range) ?? ROWS[name].default;
}

/** Undefined also when the value is not among those in its row. */
export function readChoice<Name extends ChoiceName>(
  read: Reader,
  name: Name,
): (typeof ROWS)[Name]["choices"][number] | undefined {
  return read.choice<(typeof ROWS)[Name]["choices"][number]>(name, ROWS[name].choices);
}

/** `VENDOR_<ID>_`, for the id as `VENDORS` has it. */
export function prefixOf(id: string): `VENDOR_${string}_` {
  return `VENDOR_${id.toUpperCase().replaceAll("-", "_")}_`;
}

/** Every variable of one vendor among several. */
export function prefixedNames(id: string): string[] {
  return OF_A_VENDOR.map((of) => prefixOf(id) + of);
}

/**
 * @returns the prefix and the rest of a variable of one vendor among several: of
 *   `VENDOR_MY_CHAT_CLIENT_ID` `VENDOR_MY_CHAT_` and `CLIENT_ID`. Undefined for any other name
 */
export function splitPrefixed(name: string): { readonly prefix: string; readonly of: string } | undefined {
  const of = OF_A_VENDOR.find((one) => name.endsWith(`_${one}`) && name.length > `VENDOR_${one}`.length);
  return of === undefined || !name.startsWith("VENDOR_") ? undefined : { prefix: name.slice(0, -of.length), of };
}

/**
 * Whether a variable of one vendor reads like one of the other: `a` and `a-client` have
 * `VENDOR_A_CLIENT_ID` and `VENDOR_A_CLIENT_CLIENT_ID`.
 */
export function collide(one: string, other: string): boolean {
  const [short, long] = [prefixOf(one), prefixOf(other)].toSorted((a, b) => a.length - b.length) as [string, string];
  return long.startsWith(short) && OF_A_VENDOR.some((of) => `${of}_`.startsWith(long.slice(short.length)));
}

/** The environment in which one vendor among several is the only one. */
export function environmentOf(id: string, environment: Environment): Environment {
  const prefix = prefixOf(id);
  const entries = Object.entries(environment).flatMap(([name, value]) => {
    if (name.startsWith(prefix)) return [[`VENDOR_${name.slice(prefix.length)}`, value] as const];
    return name.startsWith("VENDOR") ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(entries), VENDOR: id };
}

/**
 * @param read receives what is wrong with the vendor, under the names of its variables
 * @param id passes `checkVendorId`
 */
export function readAmongSeveral<Found>(
  read: PrefixedReader,
  id: string,
  environment: Environment,
  readOne: (read: Reader) => Found,
): Found {
  const own = createReader(environmentOf(id, environment));
  const found = readOne(own);
  const renamed = (text: string): string =>
    text.replaceAll(/\bVENDOR_(?=[A-Z])/g, prefixOf(id)).replaceAll(/\bVENDOR\b/g, `${id} of VENDORS`);
  for (const { path, problem } of own.problems) {
    if (path === "VENDOR") read.refuse("VENDORS", `has ${id}, which ${renamed(problem)}`);
    else read.refuse(renamed(path) as PrefixedName, renamed(problem));
  }
  for (const warning of own.warnings) read.warn(renamed(warning));
  return found;
}
