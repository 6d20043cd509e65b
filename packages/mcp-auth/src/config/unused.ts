/**
 * Variables that are set and have no effect: of another mode or callback, or misspelt. Worth a
 * warning: the operator expected an effect.
 */
import { type Environment, type Problem, valueOf, variableMeant } from "@oauth-broker/service/configuration";
import { nearest } from "@oauth-broker/oauth-core";
import type { PlatformCallback, ServerCallback, Settings } from "../settings.ts";
import { prefixedNames } from "./reader.ts";
import type { Use } from "./variables/rows.ts";
import { type Variable, VARIABLES } from "./variables.ts";

/** The prefixes of our variables, and half of a name without which tokens would be kept in a file. */
const OURS =
  /^(?:OAUTH|VENDOR|EGRESS|LIMITS|DEPLOYMENT|PLATFORM_OAUTH|TOKEN_ENCRYPTION|DB_TABLE|ALLOW_VENDOR|ALLOWED|ADOPT_UNSEALED|ADOPT_SIGN|ELICITATION|END_LINKS|SESSION_MAX|TRUSTED|SERVER|EVENTS)_|^DB_TABLE$/;
const NAMES = VARIABLES.map(({ name }) => name);

export interface Uses {
  readonly mode: Settings["mode"];
  /** Undefined in pre-registered mode. */
  readonly callback: (PlatformCallback | ServerCallback)["kind"] | undefined;
  /** The ids of `VENDORS`; empty without. */
  readonly vendors: readonly string[];
}

export function unusedVariables(environment: Environment, { mode, callback, vendors }: Uses): string[] {
  const applies: readonly Use[] = callback === undefined ? [mode] : [mode, `${callback} callback`];
  const prefixed = vendors.flatMap(prefixedNames);
  const where = callback === undefined ? `${mode} mode` : `hosted mode with the ${callback}'s callback`;
  const known: readonly Variable[] = VARIABLES;
  return Object.keys(environment).flatMap((name) => {
    if (valueOf(environment, name) === undefined) return [];
    const variable = known.find((one) => one.name === name);
    if (variable === undefined) return isUnknown(name, prefixed) ? [`${name} ${unknown(name, prefixed)}`] : [];
    const { use } = variable;
    if (use === "VENDORS") return vendors.length > 0 ? [] : [`${name} is set, and not used without VENDORS`];
    return use === undefined || applies.includes(use) ? [] : [`${name} is set, and not used in ${where}`];
  });
}

/**
 * The misspelt ones alone, for a start that fails: what it lacks may be among them.
 *
 * @param vendors the ids of `VENDORS`
 */
export function unknownVariables(environment: Environment, vendors: readonly string[]): readonly Problem[] {
  const prefixed = vendors.flatMap(prefixedNames);
  return Object.keys(environment)
    .filter((name) => valueOf(environment, name) !== undefined && isUnknown(name, prefixed))
    .map((name) => ({ path: name, problem: unknown(name, prefixed) }));
}

function isUnknown(name: string, prefixed: readonly string[]): boolean {
  if ([...NAMES, ...prefixed].some((one) => one === name)) return false;
  return OURS.test(name) || variableMeant(name, NAMES) !== undefined;
}

function unknown(name: string, prefixed: readonly string[]): string {
  const known = [...prefixed, ...NAMES];
  const near = lacksWord(name, known) ?? nearest(name, known);
  return `is set, and not known here${near === undefined ? "" : `: did you mean ${near}?`}`;
}

/** @returns one with a word more before its last: `VENDOR_X_CLIENT_SECRET` for `VENDOR_X_SECRET` */
function lacksWord(name: string, known: readonly string[]): string | undefined {
  const [, head = name, last = ""] = /^(.*_)([^_]+)$/.exec(name) ?? [];
  return known.find((one) => one.startsWith(head) && one.endsWith(`_${last}`));
}
