/**
 * Which functions of the AWS SDK a process ran, by V8's own count of every function
 * (NODE_V8_COVERAGE): the SDK is in the one file, and runs only when a table is chosen.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { join } from "node:path";

/** @param folder that NODE_V8_COVERAGE named for one process, which has ended */
export function readCoverage(folder: string): readonly Profiler.ScriptCoverage[] {
  const [file = ""] = readdirSync(folder);
  return (JSON.parse(readFileSync(join(folder, file), "utf8")) as Profiler.TakePreciseCoverageReturnType).result;
}

/**
 * @param bundle the file that ran
 * @throws Error if the bundle has no AWS SDK, or the process ran nothing of the bundle
 */
export function sdkFunctionsRun(folder: string, bundle: string): readonly string[] {
  const of = readCoverage(folder).find(({ url }) => url.endsWith("/main.js"));
  const ran = (of?.functions ?? []).flatMap(({ functionName, ranges: [whole] }) =>
    whole !== undefined && whole.count > 0 ? [{ functionName, at: whole.startOffset }] : [],
  );
  const ranges = sdkRanges(readFileSync(bundle, "utf8"));
  if (ranges.length < 100 || ran.length < 500) throw new Error(`${ranges.length} modules, ${ran.length} functions`);
  return ran
    .filter(({ at }) => ranges.some(([from, to]) => at >= from && at < to))
    .map(({ functionName, at }) => `${functionName} at ${at}`);
}

/** Where the AWS SDK's modules are in the bundle: each module begins with a comment of its path. */
function sdkRanges(bundle: string): readonly (readonly [number, number])[] {
  const marks = [...bundle.matchAll(/^\/\/ (\S+\.[cm]?[jt]s|\\0builtin:\S+)$/gm)];
  return marks.flatMap((mark, index) =>
    /node_modules\/@(?:aws-sdk|smithy)\//.test(mark[1] ?? "")
      ? [[mark.index, marks[index + 1]?.index ?? bundle.length] as const]
      : [],
  );
}
