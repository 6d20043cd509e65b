/**
 * A server project for `deploy`: a folder with the template's service.yaml under another name,
 * whose server is the template from source, or another one.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MCP_SOURCE } from "../support/paths.ts";
import { startCommand, writeProject } from "../support/reference-platform/project.ts";

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
  const expose = JSON.stringify([...exposedByTemplate(), ...more]);
  const hosted = mode === "hosted" ? `\nenable_db: true\nservice: { expose: ${expose} }` : "";
  writeProject(folder, `name: ${name}\nmode: ${mode}${hosted}`, environment, startCommand(file));
  return folder;
}

/** The OAuth paths, which the template defines. */
function exposedByTemplate(): string[] {
  return [...readFileSync(TEMPLATE, "utf8").matchAll(/^ {4}- (\/\S+)$/gm)].map(([, path = ""]) => path);
}
