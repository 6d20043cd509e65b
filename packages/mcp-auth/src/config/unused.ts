/**
 * Variables that are set and have no effect: of another mode or callback, or misspelt. Worth a
 * warning: the operator expected an effect.
 */
import { type Environment, type Problem, valueOf, variableMeant } from "@oauth-broker/service/configuration";
import { nearest } from "@oauth-broker/oauth-core";
import type { PlatformCallback, ServerCallback, Settings } from "../settings.ts";
import { prefixedNames, splitPrefixed } from "./reader.ts";
import type { Use } from "./variables/rows.ts";
import { VARIABLES } from "./variables.ts";

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
  const where = callback === undefined ? `${mode} mode` : `hosted mode with the ${callback}'s callback`;
  const unused = setIn(environment).flatMap((name) => {
    const use = VARIABLES.find((one) => one.name === name)?.use;
    if (use === "VENDORS") return vendors.length > 0 ? [] : [`${name} is set, and not used without VENDORS`];
    return use === undefined || applies.includes(use) ? [] : [`${name} is set, and not used in ${where}`];
  });
  const unknown = unknownVariables(environment, vendors).map(({ path, problem }) => `${path} ${problem}`);
  return [...unused, ...unknown];
}

/**
 * The misspelt ones alone, for a start that fails: what it lacks may be among them.
 *
 * @param vendors the ids of `VENDORS`
 */
export function unknownVariables(environment: Environment, vendors: readonly string[]): readonly Problem[] {
  const known = [...vendors.flatMap(prefixedNames), ...NAMES];
  return setIn(environment)
    .filter((name) => !known.includes(name) && (OURS.test(name) || variableMeant(name, NAMES) !== undefined))
    .map((name) => {
      if (vendors.length === 0 && splitPrefixed(name) !== undefined)
        return { path: name, problem: "is of one vendor among several, and VENDORS is not set" };
      const near = lacksWord(name, known) ?? nearest(name, known);
      const hint = near === undefined ? "" : `: did you mean ${near}?`;
      return { path: name, problem: `is set, and not known here${hint}` };
    });
}

function setIn(environment: Environment): string[] {
  return Object.keys(environment).filter((name) => valueOf(environment, name) !== undefined);
}

/** @returns one with a word more before its last: `VENDOR_X_CLIENT_SECRET` for `VENDOR_X_SECRET` */
function lacksWord(name: string, known: readonly string[]): string | undefined {
  const [, head = name, last = ""] = /^(.*_)([^_]+)$/.exec(name) ?? [];
  return known.find((one) => one.startsWith(head) && one.endsWith(`_${last}`));
}
