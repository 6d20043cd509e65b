/** Parses the command line of create-server; choices.ts decides whether the values are valid. */
import { readCommandLine, usageMessage } from "@oauth-broker/oauth-core/command-line";

const OPTIONS = {
  name: { type: "string" },
  mode: { type: "string" },
  vendor: { type: "string" },
  scopes: { type: "string" },
  callback: { type: "string" },
} as const;

/** The options with a value. */
export const OPTION_NAMES = Object.keys(OPTIONS) as (keyof typeof OPTIONS)[];

export type Given = Readonly<Record<"folder" | keyof typeof OPTIONS, string | undefined>>;

export type Command =
  | ({ readonly command: "create" } & Given)
  | { readonly command: "help" }
  | { readonly command: "version" }
  | { readonly command: "invalid"; readonly problem: string };

export const HELP = `Usage: create-server FOLDER [OPTIONS]

Writes the project of an MCP server that works with the account each of its users has at a vendor.
On a terminal it asks for what is missing.

Options
  --name NAME          of the server: lower case letters, digits and -        (default: the folder's)
  --mode MODE          hosted: the server runs the vendor's OAuth flow and keeps its users' tokens
                       pre-registered: the platform does, and sends each user's vendor token
  --vendor ID          whose accounts: github, slack, notion, …, or an id of your own, whose issuer service.yaml then needs
                       hosted mode: several with commas, each linked once; the first signs users in
  --scopes "A B"       the scopes requested there; of several vendors ID:SCOPE (default: the vendor's own)
  --callback WHOSE     hosted mode: platform or server, where the vendor redirects users
                       (default: platform; with several vendors: server)
  -h, --help           this text
  -v, --version        the version

Exit codes: 0 written, 1 it could not be written, 2 the command line is not usable.`;

/** @param args as in `process.argv.slice(2)` */
export function parseCommand(args: readonly string[]): Command {
  const read = readCommandLine(args, OPTIONS, { words: true });
  if (read.kind === "invalid") return invalid(read.problem);
  if (read.kind !== "given") return { command: read.kind };
  const { values, words } = read;
  if (words.length > 1) return invalid(`There is one FOLDER, and ${words.length} were given`);
  const { name, mode, callback, vendor, scopes } = values;
  return { command: "create", folder: words[0] === "" ? undefined : words[0], name, mode, callback, vendor, scopes };
}

function invalid(problem: string): Command {
  return { command: "invalid", problem: usageMessage("create-server", problem) };
}
