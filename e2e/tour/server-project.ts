/**
 * A server project for `deploy`: a folder with the template's service.yaml under another name,
 * whose server is the template from source, or another one.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MCP_SOURCE } from "../support/paths.ts";
import { startCommand } from "../support/reference-platform/start-command.ts";

export interface ServerProject {
  /** The name of the connector too. */
  readonly name: string;
  readonly mode: "hosted" | "pre-registered";
  /** Variables of the server: service.yaml names each, and the deployer has the values. */
  readonly environment: Readonly<Record<string, string>>;
  /** The file of the server; default the template. */
  readonly file?: string;
  /** Exposed in addition to the template's paths. */
  readonly expose?: readonly string[];
}

const TEMPLATE = join(MCP_SOURCE, "..", "..", "service.yaml");

/** @returns the folder */
export function writeServerProject(
  parent: string,
  { name, mode, environment, file = MCP_SOURCE, expose: more = [] }: ServerProject,
): string {
  const folder = join(parent, name);
  mkdirSync(folder);
  const references = Object.fromEntries(Object.keys(environment).map((key) => [key, `env:${key}`]));
  const expose = mode === "hosted" ? { enable_db: true, service: { expose: [...exposedByTemplate(), ...more] } } : {};
  // JSON is YAML.
  const service = { name, mode, ...expose, environment: references };
  writeFileSync(join(folder, "service.yaml"), `${JSON.stringify(service, undefined, 2)}\n`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, scripts: { start: startCommand(file) } }));
  return folder;
}

/** The OAuth paths, which the template defines. */
function exposedByTemplate(): string[] {
  return [...readFileSync(TEMPLATE, "utf8").matchAll(/^ {4}- (\/\S+)$/gm)].map(([, path = ""]) => path);
}
