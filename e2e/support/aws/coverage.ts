/** Which functions a process ran, by V8's own count of every function (NODE_V8_COVERAGE). */
import { readdirSync, readFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { join } from "node:path";

/** @param folder that NODE_V8_COVERAGE named for one process, which has ended */
export function readCoverage(folder: string): readonly Profiler.ScriptCoverage[] {
  const [file = ""] = readdirSync(folder);
  return (JSON.parse(readFileSync(join(folder, file), "utf8")) as Profiler.TakePreciseCoverageReturnType).result;
}
