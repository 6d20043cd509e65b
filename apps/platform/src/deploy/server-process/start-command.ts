/** How a project's server is started: its own `start` script, or the file that `npm run build` makes. */
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const BUILT = join("dist", "main.js");

/** @throws Error for the author, when there is nothing to start */
export function startCommand(folder: string): string {
  const script = startScript(folder);
  if (script !== undefined) return script;
  if (existsSync(join(folder, BUILT))) return `node ${BUILT}`;
  throw new Error(
    `There is nothing to start in ${folder}: no "start" script in package.json, no ${BUILT}. Build the server first.`,
  );
}

/** `node` is the one this runs on, and the project's own tools are found, as npm has it. */
export function commandPath(folder: string, path: string | undefined): string {
  const first = [join(folder, "node_modules", ".bin"), dirname(process.execPath)];
  return [...first, ...(path === undefined ? [] : [path])].join(delimiter);
}

function startScript(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  try {
    const { scripts } = JSON.parse(readFileSync(file, "utf8")) as { readonly scripts?: { readonly start?: unknown } };
    return typeof scripts?.start === "string" && scripts.start.trim() !== "" ? scripts.start : undefined;
  } catch (cause) {
    throw new Error(`${file} cannot be read as JSON`, { cause });
  }
}
