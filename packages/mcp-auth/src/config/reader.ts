/**
 * Reads a server's variables. With `VENDORS` each vendor has its own reader: the code that
 * reads and checks `VENDOR_X` reads `VENDOR_<ID>_X` through it, and every message names that.
 */
import { createEnvironmentReader, type Environment, type EnvironmentReader } from "@oauth-broker/service/configuration";
import {
  type ChoiceName,
  choicesOf,
  defaultOf,
  type NumberName,
  rangeOf,
  type Variable,
  type VariableName,
  VARIABLES,
} from "./variables.ts";

/** Reads the variables of a server, and no others. */
export type Reader = EnvironmentReader<VariableName>;
/** `VENDOR_<ID>_X`, or a variable of the table. */
export type PrefixedName = VariableName | `VENDOR_${string}`;
/** Reads also the variables of one vendor among several. */
export type PrefixedReader = EnvironmentReader<PrefixedName>;

/** The variables that describe a vendor, without `VENDOR_`. */
const OF_A_VENDOR: readonly string[] = VARIABLES.flatMap(({ name }) =>
  name.startsWith("VENDOR_") ? [name.slice("VENDOR_".length)] : [],
);

export function createReader(environment: Environment): PrefixedReader {
  return createEnvironmentReader(environment, (name: PrefixedName) => variableNamed(name));
}

/** A whole number, or the default of its row. */
export function readNumber(read: Reader, name: Exclude<NumberName, "METRICS_PORT">): number {
  return read.integer(name, rangeOf(name)) ?? defaultOf(name);
}

/** Undefined also when the value is not among those in its row. */
export function readChoice<Name extends ChoiceName>(
  read: Reader,
  name: Name,
): ReturnType<typeof choicesOf<Name>>[number] | undefined {
  return read.choice<string>(name, choicesOf(name)) as ReturnType<typeof choicesOf<Name>>[number] | undefined;
}

function variableNamed(name: PrefixedName): Variable {
  const split = splitPrefixed(name);
  const plain = split === undefined ? name : `VENDOR_${split.of}`;
  const found: Variable | undefined = VARIABLES.find((one) => one.name === plain);
  if (found === undefined) throw new TypeError(`no variable ${name}`);
  return found;
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

/**
 * The variables of one vendor among several. `VENDOR` is its id.
 *
 * @param id passes `checkVendorId`
 */
export function vendorReader(read: PrefixedReader, id: string): Reader {
  const named = (name: VariableName): PrefixedName =>
    name.startsWith("VENDOR_") ? `${prefixOf(id)}${name.slice("VENDOR_".length)}` : name;
  /** The names in a message that was written for `VENDOR`. */
  const renamed = (text: string): string =>
    text.replaceAll(/\bVENDOR(_[A-Z_]+)?\b/g, (name: string) =>
      name === "VENDOR" ? `${id} of VENDORS` : named(name as VariableName),
    );
  return {
    ...read,
    value: (name) => (name === "VENDOR" ? id : read.value(named(name))),
    text: (name, check) => (name === "VENDOR" ? id : read.text(named(name), check)),
    secret: (name, check) => read.secret(named(name), check),
    list: (name, check) => read.list(named(name), check),
    choice: (name, values) => read.choice(named(name), values),
    flag: (name) => read.flag(named(name)),
    integer: (name, range) => read.integer(named(name), range),
    refuse: (name, problem) => {
      if (name === "VENDOR") read.refuse("VENDORS", `has ${id}, which ${renamed(problem)}`);
      else read.refuse(named(name), renamed(problem));
    },
    warn: (warning) => read.warn(renamed(warning)),
  };
}
