/**
 * The command: takes arguments, writes a project, returns an exit code. main.ts and bin.ts call it.
 */
import { resolve } from "node:path";
import { type Output, TERMINAL, USAGE_EXIT_CODE } from "@oauth-broker/oauth-core/command-line";
import { type Given, parseCommand } from "./arguments.ts";
import { choose, type Prompts } from "./choices/choose.ts";
import type { Choices } from "./choices/choices.ts";
import { stopwatch } from "./clock.ts";
import { checkFolder } from "./choices/folder.ts";
import type { Materials } from "./materials/materials.ts";
import { openPoints } from "./project/open-points.ts";
import { writeProject } from "./project/write-project.ts";

export interface CreateDeps extends Output {
  /** What FOLDER is relative to. */
  readonly from: string;
  /** The path of this repository, when it runs there. */
  readonly repository: string | undefined;
  readonly version: string;
  /**
   * Called once all choices are valid.
   *
   * @throws Error whose message the command shows
   */
  readonly materials: () => Promise<Materials>;
  /** @param checkFolder the end of a sentence about a folder. Undefined without a terminal. */
  readonly prompts: ((checkFolder: (folder: string) => string | undefined) => Promise<Prompts>) | undefined;
  /** Names of options that npm took for its own; default none. */
  readonly takenByNpm?: readonly string[];
}

/** Shared by both entries of the command: the terminal, if there is one. */
export const terminal: Pick<CreateDeps, "prompts" | "print" | "say"> = {
  prompts:
    process.stdin.isTTY && process.stdout.isTTY
      ? async (checkFolder) => (await import("./choices/prompts.ts")).createPrompts(checkFolder)
      : undefined,
  ...TERMINAL,
};

const WRITTEN = 0;
const FAILED = 1;

/** @returns the exit code. Problems are printed, not thrown. */
export async function create(args: readonly string[], deps: CreateDeps): Promise<number> {
  const { print, say } = deps;
  const given = parseCommand(args, deps.version);
  if (!("exitCode" in given)) return createFrom(given, deps);
  const { stream, text, exitCode } = given;
  if (stream === "stdout") print(text);
  else say([text, ...npmHint(deps)].join("\n"));
  return exitCode;
}

async function createFrom(given: Given, deps: CreateDeps): Promise<number> {
  const { from, repository, print, say } = deps;
  const check = (folder: string): string | undefined => checkFolder(folder, { from, repository });
  const prompts = await deps.prompts?.(check);
  const chosen = await choose(given, { prompts, checkFolder: check });
  if (chosen.kind === "cancelled") {
    say("Nothing was written.");
    return FAILED;
  }
  if (chosen.kind === "refused") {
    const intro =
      deps.prompts === undefined
        ? "Nothing was written, and there is no terminal here to ask on:"
        : "Nothing was written:";
    say(
      [
        intro,
        ...chosen.problems.map((problem) => `  ${problem}`),
        ...npmHint(deps),
        "Run 'create-server --help'.",
      ].join("\n"),
    );
    return USAGE_EXIT_CODE;
  }
  try {
    const materials = await deps.materials();
    const elapsed = stopwatch();
    const files = writeProject(resolve(deps.from, chosen.folder), chosen.choices, materials);
    print(ending({ ...chosen, files, took: elapsed(), node: materials.node }));
    return WRITTEN;
  } catch (error) {
    say(error instanceof Error ? error.message : "The project could not be written.");
    return FAILED;
  }
}

function npmHint({ takenByNpm = [] }: Pick<CreateDeps, "takenByNpm">): readonly string[] {
  if (takenByNpm.length === 0) return [];
  const names = takenByNpm.map((name) => `--${name}`).join(", ");
  return [`npm took ${names} for its own. Put -- before the options: npm run create-server FOLDER -- --mode MODE …`];
}

interface Ending {
  readonly folder: string;
  readonly choices: Choices;
  readonly files: readonly string[];
  readonly took: string;
  readonly node: string;
}

/** What was written, and what to do next. */
function ending({ folder, choices, files, took, node }: Ending): string {
  const { name, mode, vendors } = choices;
  const isSeveral = vendors.length > 1;
  const quoted = /^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder);
  const { missing, notes } = openPoints(choices);
  const listed = (title: string, points: readonly string[]): string[] =>
    points.length === 0 ? [] : ["", title, ...points.map((point) => `  ${point}`)];
  return [
    "",
    `${name}, ${mode} mode, ${vendors.map(({ id }) => id).join(" and ")}: ${files.length} files in ${took}`,
    "",
    `  cd ${quoted}`,
    `  npm install     needs Node.js ${node}`,
    `  npm run dev     serves /mcp on this machine, on a practice copy of ${isSeveral ? "each" : "the"} vendor`,
    ...(isSeveral ? ["                  then, in an MCP client: call a tool, click the link, call again"] : []),
    "",
    `  npm test        npm run build        README.md says what is yours to change`,
    ...listed("Before it starts, service.yaml needs more:", missing),
    ...listed("Before you deploy:", notes),
    "",
  ].join("\n");
}
