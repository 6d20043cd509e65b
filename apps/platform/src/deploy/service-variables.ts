/** `environment` of service.yaml. The platform's own variables are not an author's to set; a secret is named, not written down. */
import { nearest, type Problem } from "@oauth-broker/oauth-core/service";
import type { Deployment } from "../connectors/connector.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface VariablesContext {
  readonly mode: Deployment["mode"] | undefined;
  readonly enableDb: boolean;
  /** What `env:NAME` refers to; undefined: nobody asks yet. */
  readonly given: Variables | undefined;
}

/** What the platform injects (design §6), and what would take the server elsewhere than the ingress looks for it. */
const OURS: ReadonlySet<string> = new Set([
  "DEPLOYMENT_URL",
  "PLATFORM_OAUTH_CALLBACK_URL",
  "DB_TABLE_NAME",
  "DB_TABLE_REGION",
  "TOKEN_ENCRYPTION_KMS_KEY_ID",
  "HOST",
  "PORT",
]);
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const REFERENCE = /^env:(.*)$/s;

export function readVariables(
  environment: unknown,
  context: VariablesContext,
  problems: Problem[],
): Readonly<Record<string, string>> {
  if (environment === undefined || environment === null) return {};
  if (typeof environment !== "object" || Array.isArray(environment)) {
    problems.push({ path: "environment", problem: "must be a list of NAME: value", example: "VENDOR: my-vendor" });
    return {};
  }
  const values: [string, string][] = [];
  for (const [name, written] of Object.entries(environment as Record<string, unknown>)) {
    const path = `environment.${NAME.test(name) ? name : "?"}`;
    const value = readValue(name, written, context);
    if ("text" in value) values.push([name, value.text]);
    else problems.push({ path, ...value });
  }
  return Object.fromEntries(values);
}

type Value = { readonly text: string } | Omit<Problem, "path">;

function readValue(name: string, written: unknown, { mode, enableDb, given }: VariablesContext): Value {
  if (!NAME.test(name)) return { problem: "must be named by letters, digits and _" };
  if (OURS.has(name)) return { problem: "is set by the platform: leave it out" };
  if (written !== null && typeof written === "object") return { problem: "must be text", example: `${name}: "…"` };
  const text = typeof written === "string" ? written : JSON.stringify(written ?? "").replace(/^""$/, "");
  if (name === "OAUTH_MODE" && mode !== undefined && text !== mode) {
    return { problem: "is another mode than `mode`: leave it out, the platform sets it", expected: mode };
  }
  if (name === "TOKEN_ENCRYPTION_MODE") {
    if (!enableDb) return { problem: "is for servers with a table", example: "enable_db: true" };
    if (text !== "bridge" && text !== "encrypted") return { problem: "must be a mode", expected: "bridge | encrypted" };
  }
  const [, reference] = REFERENCE.exec(text) ?? [];
  return reference === undefined || given === undefined ? checked(text) : referred(reference, given);
}

function referred(name: string, given: Variables): Value {
  const example = "env:VENDOR_CLIENT_SECRET";
  if (!NAME.test(name)) return { problem: "refers to no variable", example };
  const value = given[name];
  if (value !== undefined && value !== "") return checked(value);
  const meant = nearest(name, Object.keys(given));
  const hint = meant === undefined ? "" : ` (${meant} is)`;
  return { problem: `refers to ${name}, which is not set where this runs${hint}`, example };
}

function checked(text: string): Value {
  return text.includes("\0") ? { problem: "has a character that no variable can hold" } : { text };
}
