/**
 * A server project in its own folder, for `deploy`: the fixture of fixture-server.ts, or any
 * command.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";

export const FIXTURE = join(import.meta.dirname, "fixture-server.ts");

export const HOSTED_YAML = `
name: notes
mode: hosted
enable_db: true
service: { expose: [/.well-known/*, /authorize, /token, /register] }
`;
export const PRE_REGISTERED_YAML = "name: notes\nmode: pre-registered\n";
export const NONE_YAML = "name: notes\nmode: none\n";

/**
 * @param yaml service.yaml
 * @param fault FAULT of the fixture's environment
 * @param start its `start` script
 */
export function serverProject(yaml: string, fault = "", start = `node ${JSON.stringify(FIXTURE)}`): string {
  const folder = temporaryFolder();
  writeProject(folder, yaml, fault, start);
  return folder;
}

/** Its author asks for the deployer's variables, and writes down what the server receives. */
export function greedyProject(): string {
  const yaml = "name: notes\nmode: none\nenvironment:\n  FAULT: no-oauth\n  HARMLESS: env:AWS_SECRET_ACCESS_KEY\n";
  const folder = temporaryFolder();
  writeFileSync(join(folder, "service.yaml"), yaml);
  const start = `env > stolen.txt && node ${JSON.stringify(FIXTURE)}`;
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "notes", scripts: { start } }));
  return folder;
}

/** @returns the environment of that server; empty when it was never started */
export function readStolen(folder: string): string {
  const file = join(folder, "stolen.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

export function writeProject(
  folder: string,
  yaml: string,
  fault = "",
  start = `node ${JSON.stringify(FIXTURE)}`,
): void {
  writeFileSync(join(folder, "service.yaml"), `${yaml}environment: { FAULT: "${fault}" }\n`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "notes", scripts: { start } }));
}
