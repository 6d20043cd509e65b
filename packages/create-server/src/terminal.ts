/** What both entries of the command do alike: the terminal, if there is one. */
import type { CreateDeps } from "./create.ts";

export const terminal: Pick<CreateDeps, "prompts" | "print" | "say"> = {
  prompts:
    process.stdin.isTTY && process.stdout.isTTY
      ? async (checkFolder) => (await import("./choices/prompts.ts")).createPrompts(checkFolder)
      : undefined,
  print: (text) => void process.stdout.write(`${text}\n`),
  say: (text) => void process.stderr.write(`${text}\n`),
};
