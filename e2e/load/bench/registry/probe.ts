/**
 * One process that loads the registry of vendors and reports how long it took: `node
 * probe.ts FILE`. bench.ts starts it once per measurement, because a module loads once.
 * Written in TypeScript, so that Node has loaded its TypeScript support before the clock starts.
 */
import { pathToFileURL } from "node:url";
import type { Load } from "./bench.ts";

const { href } = pathToFileURL(process.argv[2] ?? "");
const cpuBefore = process.cpuUsage();
const start = performance.now();
const { REGISTRY } = (await import(href)) as { readonly REGISTRY: ReadonlyMap<string, unknown> };
const wall = performance.now() - start;
const { user, system } = process.cpuUsage(cpuBefore);
if (REGISTRY.size <= 300) throw new Error(`the registry has only ${REGISTRY.size} entries`);
const load: Load = [wall, (user + system) / 1000];
process.stdout.write(JSON.stringify(load));
