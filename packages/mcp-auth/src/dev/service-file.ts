/**
 * The part of service.yaml that a server under development needs: its name, and the environment of
 * the deployment.
 */
import { withoutNumbers } from "@oauth-broker/service/configuration";
import { parse } from "yaml";
import type { Environment } from "../config.ts";

export interface ServiceFile {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
}

const REFERENCE = /^env:(.*)$/s;

/**
 * @param own the developer's environment, which `env:NAME` refers to. Any variable of it: here the
 *   server is the developer's own code and inherits all of it anyway, while a deploy requires each
 *   name to be passed explicitly. A variable that is not set is left out, and the practice vendor's
 *   value applies
 * @throws Error saying what is wrong with the file
 */
export function parseServiceFile(text: string, own: Environment): ServiceFile {
  const file = parseEntries(text);
  const { name, mode, environment = {} } = file;
  if (typeof name !== "string" || name === "") throw new Error("service.yaml needs a name");
  if (typeof environment !== "object" || environment === null || Array.isArray(environment)) {
    throw new Error("environment in service.yaml must be lines of NAME: value, without a dash");
  }
  const entries = Object.entries(environment as Record<string, unknown>).map(([key, value]): [string, string] => {
    if (value === null) return [key, ""];
    if (typeof value === "string" || typeof value === "boolean") return [key, `${value}`];
    throw new Error(`${key} in service.yaml must be text: put it in quotation marks`);
  });
  // The platform sets it, so a file need not say it twice.
  const ofPlatform = typeof mode === "string" ? { OAUTH_MODE: mode } : {};
  const resolved = { ...ofPlatform, ...Object.fromEntries(entries.flatMap((entry) => resolveEntry(entry, own))) };
  if (typeof mode === "string" && resolved.OAUTH_MODE !== mode) {
    throw new Error("OAUTH_MODE in service.yaml contradicts its mode: a deploy refuses that");
  }
  return { name, environment: resolved };
}

function resolveEntry([key, text]: [string, string], own: Environment): [string, string][] {
  const [, name] = REFERENCE.exec(text) ?? [];
  if (name === undefined) return [[key, text]];
  const value = own[name];
  return value === undefined ? [] : [[key, value]];
}

function parseEntries(text: string): Readonly<Record<string, unknown>> {
  let file: unknown;
  try {
    file = parse(text, { customTags: withoutNumbers });
  } catch (error) {
    throw new Error(`service.yaml cannot be read: ${error instanceof Error ? error.message : "no YAML"}`, {
      cause: error,
    });
  }
  if (typeof file !== "object" || file === null) throw new Error("service.yaml is empty");
  return file as Readonly<Record<string, unknown>>;
}
