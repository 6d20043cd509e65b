/**
 * `environment` of service.yaml. An author must not set the platform's own variables, and refers to
 * a secret instead of writing it down.
 */
import { nearest } from "@oauth-broker/oauth-core";
import type { Problem } from "@oauth-broker/service/configuration";
import type { Deployment } from "../../connectors/connector.ts";
import { FIELDS } from "./fields.ts";
import { type Given, isAllowed, isVariableName } from "./allowed-variables.ts";

export interface VariablesContext {
  readonly mode: Deployment["mode"] | undefined;
  readonly enableDb: boolean;
  /** The values for `env:NAME`; undefined: references are left as they are. */
  readonly given: Given | undefined;
}

/**
 * Variables that the platform injects, and variables that would move the server away from the
 * address that the ingress expects.
 */
export const PLATFORM_VARIABLES: ReadonlySet<string> = new Set([
  "DEPLOYMENT_URL",
  "PLATFORM_OAUTH_CALLBACK_URL",
  "DB_TABLE_NAME",
  "DB_TABLE_REGION",
  "TOKEN_ENCRYPTION_KMS_KEY_ID",
  "HOST",
  "PORT",
]);
export const TOKEN_MODES: readonly string[] = ["bridge", "encrypted"];
const REFERENCE = /^env:(.*)$/s;

export function readVariables(
  environment: unknown,
  context: VariablesContext,
  problems: Problem[],
): Readonly<Record<string, string>> {
  if (environment === undefined || environment === null) return {};
  if (typeof environment !== "object" || Array.isArray(environment)) {
    const { expected, example } = FIELDS.environment;
    problems.push({ path: "environment", problem: `must be a list of ${expected}`, example });
    return {};
  }
  const values: [string, string][] = [];
  for (const [name, written] of Object.entries(environment as Record<string, unknown>)) {
    const path = `environment.${isVariableName(name) ? name : "?"}`;
    const value = readValue(name, written, context);
    if ("text" in value) values.push([name, value.text]);
    else problems.push({ path, ...value });
  }
  return Object.fromEntries(values);
}

type Value = { readonly text: string } | Omit<Problem, "path">;

function readValue(name: string, written: unknown, { mode, enableDb, given }: VariablesContext): Value {
  if (!isVariableName(name)) return { problem: "must be named by letters, digits and _" };
  if (PLATFORM_VARIABLES.has(name)) return { problem: "is set by the platform: leave it out" };
  if (written !== null && typeof written === "object") return { problem: "must be text", example: `${name}: "…"` };
  const text = typeof written === "string" ? written : JSON.stringify(written ?? "").replace(/^""$/, "");
  if (name === "OAUTH_MODE" && mode !== undefined && text !== mode) {
    return { problem: "contradicts `mode`: leave it out, the platform sets it", expected: mode };
  }
  if (name === "TOKEN_ENCRYPTION_MODE") {
    if (!enableDb) return { problem: "is for servers with a table", example: FIELDS.enable_db.example };
    if (!TOKEN_MODES.includes(text)) return { problem: "must be a mode", expected: TOKEN_MODES.join(" | ") };
  }
  const [, reference] = REFERENCE.exec(text) ?? [];
  return reference === undefined || given === undefined ? checked(text) : referred(reference, given);
}

function referred(name: string, given: Given): Value {
  const example = "env:VENDOR_CLIENT_SECRET";
  if (!isVariableName(name)) return { problem: "does not name a variable", example };
  const { variables, allowed } = given;
  if (!isAllowed(name, given)) {
    return { problem: `refers to ${name}, which this deploy may not pass on`, example: `--env ${name}` };
  }
  const value = variables[name];
  if (value !== undefined && value !== "") return checked(value);
  const set = allowed.filter((other) => variables[other] !== undefined);
  const meant = nearest(name, set);
  const hint = meant === undefined ? "" : ` (${meant} is)`;
  return { problem: `refers to ${name}, which is not set in this environment${hint}`, example };
}

/** @returns the names that `environment` refers to and the deployer did not allow, each once */
export function refusedNames(environment: unknown, given: Given): readonly string[] {
  if (typeof environment !== "object" || environment === null) return [];
  const named = Object.values(environment).flatMap((value) =>
    typeof value === "string" ? [REFERENCE.exec(value)?.[1] ?? ""] : [],
  );
  return [...new Set(named)].filter((name) => isVariableName(name) && !isAllowed(name, given));
}

function checked(text: string): Value {
  return text.includes("\0") ? { problem: "has a character that no variable can hold" } : { text };
}
