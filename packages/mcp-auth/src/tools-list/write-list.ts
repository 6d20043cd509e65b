/**
 * Writes src/tools/index.ts from the files beside it, so that adding a tool means adding one file.
 * Files are read as text: no tool runs for it. Called by main.ts, which is the command `mcp-tools`.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LIST = "index.ts";
const HEADER =
  "// Generated from the files of this folder by `mcp-tools`, which dev, test and build run first. A tool is one file here.";
const FILE_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
/** Words that cannot name a `const`. */
const RESERVED =
  /^(?:await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield|tools)$/;

export type ListState = "written" | "unchanged" | "outdated";

/**
 * @param folder src/tools
 * @param options.check writes nothing: a list that differs is `outdated`
 * @returns what was done; a correct list is not touched
 * @throws Error, for the author: no folder, no tool, or every file that is not a tool, all at once
 */
export function writeToolsList(folder: string, { check = false } = {}): ListState {
  const path = join(folder, LIST);
  const wanted = listOf(folder);
  if (read(path) === wanted) return "unchanged";
  if (check) return "outdated";
  writeFileSync(path, wanted);
  return "written";
}

function listOf(folder: string): string {
  const files = filesOf(folder);
  const problems = files.flatMap((file) => problemOf(file, folder) ?? []);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  if (files.length === 0) throw new Error(`${folder} has no tool: add a file such as ${join(folder, "whoami.ts")}`);
  const tools = files.map((file) => ({ file, name: nameOf(file) }));
  const imports = tools.map(({ file, name }) => `import { ${name} } from "./${file}";`);
  const list = listText(tools.map(({ name }) => name));
  return `${HEADER}\n${imports.join("\n")}\n\n${list}\n`;
}

/** As the formatter would: one line while it fits. */
function listText(names: readonly string[]): string {
  const line = `export const tools = [${names.join(", ")}];`;
  return line.length <= 120 ? line : `export const tools = [\n${names.map((name) => `  ${name},\n`).join("")}];`;
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(".ts") && !/\.(?:test|spec|d)\.ts$/.test(file) && file !== LIST)
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error(`There is no folder ${folder}: run this where package.json is`, { cause: error });
  }
}

function problemOf(file: string, folder: string): string | undefined {
  const path = join(folder, file);
  if (!FILE_NAME.test(stem(file))) {
    return `${path}: name it in lower case with hyphens, such as list-pages.ts, so that its export can be called the same`;
  }
  const name = nameOf(file);
  if (RESERVED.test(name)) return `${path}: ${name} cannot be the name of an export. Name it such as ${name}-it.ts`;
  return exportsName(readFileSync(path, "utf8"), name)
    ? undefined
    : `${path}: has no export called ${name}. Write: export const ${name} = defineTool({ … });`;
}

function exportsName(text: string, name: string): boolean {
  const lists = [...text.matchAll(/^export\s*\{([^}]*)\}/gm)].flatMap(([, list = ""]) => list.split(","));
  return (
    new RegExp(`^export\\s+(?:const|let|var)\\s+${name}\\b`, "m").test(text) ||
    lists.some(
      (entry) =>
        entry
          .trim()
          .split(/\s+as\s+/)
          .at(-1) === name,
    )
  );
}

const stem = (file: string): string => file.slice(0, -".ts".length);

const nameOf = (file: string): string =>
  stem(file).replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
