/** Parses the command line of create-server; choices.ts decides whether the values are valid. */
import { readCommand, type UsageAnswer } from "@oauth-broker/oauth-core/command-line";

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

const HELP = `Usage: create-server FOLDER [OPTIONS]

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
export function parseCommand(args: readonly string[], version: string): Given | UsageAnswer {
  const about = { program: "create-server", help: HELP, version, words: true };
  return readCommand(args, OPTIONS, about, ({ values, words }) => {
    if (words.length > 1) throw new Error(`There is one FOLDER, and ${words.length} were given`);
    const { name, mode, callback, vendor, scopes } = values;
    return { folder: words[0] === "" ? undefined : words[0], name, mode, callback, vendor, scopes };
  });
}
