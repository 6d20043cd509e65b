/**
 * One process that loads the registry of vendors and reports how long it took: `node
 * probe.ts FILE`. bench.ts starts it once per measurement, because a module loads once.
 * Written in TypeScript, so that Node has loaded its TypeScript support before the clock starts.
 */
import { pathToFileURL } from "node:url";
import type { RegistryMeasurement } from "./bench.ts";

interface Registry {
  readonly REGISTRY: ReadonlyMap<string, { readonly vendor: { readonly id: string } }>;
}

const LOOK_UPS = 200_000;

const elapsed = (since: number): number => performance.now() - since;

const cpuBefore = process.cpuUsage();
const start = performance.now();
const { REGISTRY } = (await import(pathToFileURL(process.argv[2] ?? "").href)) as Registry;
const loadMilliseconds = elapsed(start);
const { user, system } = process.cpuUsage(cpuBefore);

const ids = [...REGISTRY.keys()];
if (ids.length <= 300) throw new Error(`the registry has only ${ids.length} entries`);
const last = ids.at(-1) ?? "";
const beforeFirst = performance.now();
if (REGISTRY.get(last)?.vendor.id !== last) throw new Error("the registry does not have its last entry");
const firstLookUpMicroseconds = elapsed(beforeFirst) * 1000;

const beforeLookUps = performance.now();
for (let count = 0; count < LOOK_UPS; count += 1) REGISTRY.get(last);
const lookUpNanoseconds = (elapsed(beforeLookUps) / LOOK_UPS) * 1e6;

const beforeAll = performance.now();
if ([...REGISTRY.values()].length !== ids.length) throw new Error("the registry has not as many entries as ids");
const measurement: RegistryMeasurement = {
  loadMilliseconds,
  loadCpuMilliseconds: (user + system) / 1000,
  firstLookUpMicroseconds,
  lookUpNanoseconds,
  allMilliseconds: elapsed(beforeAll),
};
process.stdout.write(JSON.stringify(measurement));
