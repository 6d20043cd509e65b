/**
 * Parses the operator's command line: what to do, or what was wrong with it. Runs and prints
 * nothing.
 */
import { readCommand, type UsageAnswer, usageMessage } from "@oauth-broker/oauth-core/command-line";

export type Command =
  | { readonly name: "links list"; readonly user: string | undefined }
  | { readonly name: "links revoke"; readonly user: string; readonly vendor: string | undefined }
  /** Passed on unchanged. */
  | { readonly name: "token-store"; readonly args: readonly string[] };

const PROGRAM = "node main.js";

const HELP = `Usage: ${PROGRAM} [COMMAND]

Without a command the server runs.

Commands
  links list [USER]      whose accounts at the vendor are linked, and whether each link works
  links revoke USER      end a user's link: their sessions here, their tokens at the vendor, the record
  links revoke USER VENDOR
                         with VENDORS: end that link alone; without VENDOR all of them, the sessions, the open
                         pages and the sign-ins of the pages
  token-store audit|migrate|strip [OPTIONS]
                         take the table of tokens from plaintext to ciphertext; token-store --help has the options,
                         of which --issuer is not needed for this server's vendors

Options
  -h, --help             this text
  -v, --version          the server's version

USER is the vendor's own stable name of a person, as links list prints it. The environment is that of the server.

Exit codes
  0                      done
  1                      it could not be done, or not wholly; stderr says why
  2                      the command line is not understood
  others                 of token-store, see there`;

/**
 * @param args without the program and the script, as in `process.argv.slice(2)`
 * @param version of the server
 */
export function parseCommand(args: readonly string[], version: string): Command | UsageAnswer {
  const [first, ...rest] = args;
  if (first === "token-store") return { name: first, args: rest };
  const about = { program: PROGRAM, help: HELP, version, commands: ["links", "token-store"] };
  return readCommand(args, {}, about, ({ words }) => commandOf(words));
}

function commandOf([name, action, ...words]: readonly string[]): Command {
  if (name === "token-store") throw new Error("token-store is the first word");
  const [user, vendor] = words;
  if (words.length > (action === "revoke" ? 2 : 1) || words.includes("")) throw new Error(takesOneUser(action));
  if (action === "list") return { name: "links list", user };
  if (action !== "revoke") throw new Error("links takes one of: list, revoke");
  if (user === undefined) throw new Error("links revoke needs a user: links list names them");
  return { name: "links revoke", user, vendor };
}

const takesOneUser = (action = ""): string => `links ${action} takes one user: put a name with spaces in quotes`;

/** Of `links revoke USER VENDOR` if there is only one vendor. */
export const TOO_MANY_WORDS: string = usageMessage(PROGRAM, takesOneUser("revoke"));
