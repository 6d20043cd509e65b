/** The words of the vendor tools: which command with which options, or what is wrong with them. Runs nothing. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { join } from "node:path";
import { ROOT } from "../sources.ts";
import { HELP, NEW_HELP } from "./help.ts";
import type { NewOptions } from "./new.ts";
import { refusal } from "./refusal.ts";

export type Command = { readonly name: "help"; readonly text: string } | ({ readonly name: "new" } & NewCommand);

type NewCommand = Pick<NewOptions, "issuer" | "id" | "displayName" | "out" | "loopback">;

const VENDORS = join(ROOT, "packages/oauth-core/src/vendors");

const COMMON = {
  help: { type: "boolean", short: "h", default: false },
  loopback: { type: "boolean", default: false },
} as const;

/** @throws Refusal */
export function parseCommand([name, ...args]: readonly string[]): Command {
  switch (name) {
    case undefined:
    case "help":
    case "--help":
    case "-h":
      return { name: "help", text: HELP };
    case "new":
      return parseNew(args);
    default:
      throw refusal(`There is no command '${name.slice(0, 40)}'.\n\n${HELP}`);
  }
}

function parseNew(args: readonly string[]): Command {
  const { values, positionals } = read(args, {
    ...COMMON,
    issuer: { type: "string" },
    id: { type: "string" },
    name: { type: "string" },
    out: { type: "string", default: VENDORS },
  });
  const { help, issuer, id, name, out, loopback } = values;
  if (help) return { name: "help", text: NEW_HELP };
  if (issuer === undefined || positionals.length > 0) throw refusal(`new takes --issuer URL.\n\n${NEW_HELP}`);
  return {
    name: "new",
    issuer,
    out,
    loopback,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { displayName: name }),
  };
}

function read<const T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node's sentence, without its advice on positional arguments.
    const [sentence = ""] = error instanceof Error ? error.message.split(/\. |\n/) : [];
    throw refusal(`${sentence === "" ? "The options are not understood" : sentence}. --help says which there are.`);
  }
}
