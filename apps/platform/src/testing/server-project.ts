/**
 * A server project in its own folder, for `deploy`: the fixture of fixture-server.ts, or any
 * command.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";

const START = `node ${JSON.stringify(join(import.meta.dirname, "fixture-server.ts"))}`;

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
 */
export function serverProject(yaml: string, fault = ""): string {
  const folder = temporaryFolder();
  writeProject(folder, yaml, { FAULT: fault });
  return folder;
}

/** Its author asks for the deployer's variables, and writes down what the server receives. */
export function greedyProject(): string {
  const folder = temporaryFolder();
  const environment = { FAULT: "no-oauth", HARMLESS: "env:AWS_SECRET_ACCESS_KEY" };
  writeProject(folder, NONE_YAML, environment, `env > stolen.txt && ${START}`);
  return folder;
}

/** @returns the environment of that server; empty when it was never started */
export function readStolen(folder: string): string {
  const file = join(folder, "stolen.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** The server and its keeper find what earlier ones have compiled. */
const CACHE = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };

export function writeProject(folder: string, yaml: string, environment: object, start = START): void {
  writeFileSync(join(folder, "service.yaml"), `${yaml}environment: ${JSON.stringify({ ...CACHE, ...environment })}\n`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "notes", scripts: { start } }));
}
