/**
 * Parses the operator's command line: what to do, or what was wrong with it. Runs and prints
 * nothing.
 */
import { noSuchCommand, readCommandLine, usageMessage } from "@oauth-broker/oauth-core/command-line";

export type Command =
  | { readonly name: "help" }
  | { readonly name: "version" }
  | { readonly name: "links list"; readonly user: string | undefined }
  | { readonly name: "links revoke"; readonly user: string; readonly vendor: string | undefined }
  /** Passed on unchanged. */
  | { readonly name: "token-store"; readonly args: readonly string[] }
  /** The command line was not understood: the message goes to stderr. */
  | { readonly name: "invalid"; readonly message: string };

export const HELP = `Usage: node main.js [COMMAND]

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

/** @param args without the program and the script, as in `process.argv.slice(2)` */
export function parseCommand(args: readonly string[]): Command {
  const [first, ...rest] = args;
  if (first === "token-store") return { name: first, args: rest };
  const read = readCommandLine(args, {}, { words: true });
  if (read.kind === "invalid") return invalid(read.problem);
  if (read.kind !== "given") return { name: read.kind };
  return read.words[0] === "help" ? { name: "help" } : commandOf(read.words);
}

function commandOf([name = "", action, ...words]: readonly string[]): Command {
  if (name !== "links") return invalid(noSuchCommand(name, ["links", "token-store", "help"]));
  const [user, vendor] = words;
  if (words.length > (action === "revoke" ? 2 : 1) || words.includes("")) return takesOneUser(action);
  if (action === "list") return { name: "links list", user };
  if (action !== "revoke") return invalid("links takes one of: list, revoke");
  return user === undefined
    ? invalid("links revoke needs a user: links list names them")
    : { name: "links revoke", user, vendor };
}

/** Also for `links revoke USER VENDOR` if there is only one vendor. */
export function takesOneUser(action = ""): Command & { readonly name: "invalid" } {
  return invalid(`links ${action} takes one user: put a name with spaces in quotes`);
}

function invalid(problem: string): Command & { readonly name: "invalid" } {
  return { name: "invalid", message: usageMessage("node main.js", problem) };
}
