/**
 * Variables that are set and have no effect: of another mode or callback, or misspelt. Worth a
 * warning: the operator expected an effect.
 */
import { type Environment, nearest, valueOf } from "@oauth-broker/oauth-core/configuration";
import type { PlatformCallback, ServerCallback, Settings } from "../settings.ts";
import { type Use, type Variable, VARIABLES } from "./variables.ts";

/** The prefixes of our variables. */
const OURS =
  /^(?:OAUTH|VENDOR|EGRESS|LIMITS|DEPLOYMENT|PLATFORM_OAUTH|TOKEN_ENCRYPTION|DB_TABLE|ALLOW_VENDOR|ALLOWED|ADOPT_UNSEALED|TRUSTED)_/;

/** @param callback undefined in pre-registered mode */
export function unusedVariables(
  environment: Environment,
  mode: Settings["mode"],
  callback: (PlatformCallback | ServerCallback)["kind"] | undefined,
): string[] {
  const applies: readonly Use[] = callback === undefined ? [mode] : [mode, `${callback} callback`];
  const where = callback === undefined ? `${mode} mode` : `hosted mode with the ${callback}'s callback`;
  const known: readonly Variable[] = VARIABLES;
  return Object.keys(environment).flatMap((name) => {
    if (valueOf(environment, name) === undefined) return [];
    const variable = known.find((one) => one.name === name);
    if (variable === undefined) return OURS.test(name) ? [unknown(name)] : [];
    const { use } = variable;
    return use === undefined || applies.includes(use) ? [] : [`${name} is set, and not used in ${where}`];
  });
}

function unknown(name: string): string {
  const near = nearest(
    name,
    VARIABLES.map((one) => one.name),
  );
  return `${name} is set, and not known here${near === undefined ? "" : `: did you mean ${near}?`}`;
}
