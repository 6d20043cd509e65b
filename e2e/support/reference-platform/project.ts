/** A server's project, as `deploy` reads it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The command that starts a server's file. The platform hands none of our variables to a server, so
 * the command names the cache of compiled files.
 */
export function startCommand(file: string): string {
  const cache = process.env["NODE_COMPILE_CACHE"];
  const variable = cache === undefined ? "" : `NODE_COMPILE_CACHE=${JSON.stringify(cache)} `;
  return `${variable}exec node ${JSON.stringify(file)}`;
}

/**
 * @param yaml service.yaml without its `environment`
 * @param variables service.yaml names each, and the deploying process has the values
 */
export function writeProject(folder: string, yaml: string, variables: object, start: string): void {
  const environment = Object.fromEntries(Object.keys(variables).map((name) => [name, `env:${name}`]));
  writeFileSync(join(folder, "service.yaml"), `${yaml}\nenvironment: ${JSON.stringify(environment)}\n`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "server", scripts: { start } }));
}
