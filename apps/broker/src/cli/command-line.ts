/**
 * Parses the command line into a value: the command to run, or what is wrong with the arguments.
 * Runs and prints nothing; main.ts and operator.ts do that.
 */
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };

export type Command =
  | { readonly name: "serve" }
  | { readonly name: "check" }
  | { readonly name: "flow"; readonly flowId: string; readonly json: boolean }
  | { readonly name: "keys-rotate" }
  | { readonly name: "keys-list" }
  | { readonly name: "keys-adopt"; readonly revision: number }
  /** `yes`: the operator has agreed on the command line. */
  | { readonly name: "keys-new"; readonly yes: boolean }
  /** `file`: a path, or `-` for stdin. `heads`: in lower case. */
  | { readonly name: "audit-verify"; readonly file: string; readonly heads: readonly string[] }
  | { readonly name: "help" }
  | { readonly name: "version" }
  /**
   * The arguments are invalid: the message goes to stderr and the exit code is `USAGE_EXIT_CODE`.
   */
  | { readonly name: "invalid"; readonly message: string };

export const VERSION: string = manifest.version;
export const USAGE_EXIT_CODE = 2;

export const HELP = `Usage: broker [COMMAND]

Commands
  serve            run the broker (the default)
  check            read the configuration, say what it amounts to or everything that is wrong with it
  flow ID          the timeline of one flow, without secrets; ID is the flow_id of a page, redirect, error or log line
  keys list        the broker's own keys: which one is in use, which ones only open
  keys rotate      add a key; it takes over a minute later, the old ones go on opening what they sealed
  keys adopt N     take the keyset of revision N that lies in the store though it belongs to another base_url or table, or
                   is older than one that was in use: after a move, or a backup restored on purpose
  keys new         make new keys in place of those that are gone, after asking: every connection ends with them
  audit verify FILE
                   whether the lines of an audit stream hold together, and which do not; - reads them from stdin

Options
  --json           with flow: as JSON
  --yes            with keys new: do not ask
  --head HASH      with audit verify: a head from the log (audit_head) that must be there; may be given several times
  -h, --help       this text
  -v, --version    the version

Environment
  BROKER_CONFIG    the configuration, a YAML file; default broker.yaml in the start directory
  BASE_URL, HOST, PORT, STORE
                   win over base_url, listen.host, listen.port and store of the file
  VENDOR_<ID>_CLIENT_ID, VENDOR_<ID>_CLIENT_SECRET
                   credentials of a vendor for which the file has none
  AWS_...          with a dynamodb: store or kms: keys, the AWS SDK's own: credentials where there is no role,
                   AWS_ENDPOINT_URL_KMS for a key service at an address of its own

Without any of BROKER_CONFIG, broker.yaml, BASE_URL, STORE and a HOST that others can reach, the broker runs as a sandbox
on this machine. Every field of the file: docs/configuration.md.`;

/** @param args the arguments without the program and the script, as in `process.argv.slice(2)` */
export function parseCommand(args: readonly string[]): Command {
  const read = readArguments(args);
  if ("problem" in read) return invalid(read.problem);
  const { words, help, version, json, yes, head } = read;
  if (help) return { name: "help" };
  if (version) return { name: "version" };
  const command = parseWords(words, { json, yes, heads: head });
  if (head.length > 0 && command.name !== "audit-verify" && command.name !== "invalid") {
    return invalid("--head goes with audit verify only");
  }
  if (json && command.name !== "flow" && command.name !== "invalid") return invalid("--json goes with flow only");
  if (yes && command.name !== "keys-new" && command.name !== "invalid") return invalid("--yes goes with keys new only");
  return command;
}

interface Arguments {
  readonly words: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
  readonly json: boolean;
  readonly yes: boolean;
  readonly head: readonly string[];
}

function readArguments(args: readonly string[]): Arguments | { readonly problem: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", short: "v", default: false },
        json: { type: "boolean", default: false },
        yes: { type: "boolean", default: false },
        head: { type: "string", multiple: true, default: [] },
      },
    });
    return { words: positionals, ...values };
  } catch (error) {
    // Node's message without its advice on positional arguments.
    const [sentence = "the options are not understood"] = error instanceof Error ? error.message.split(/\. |\n/) : [];
    return { problem: sentence };
  }
}

function parseWords(
  [first = "serve", ...rest]: readonly string[],
  { json, yes, heads }: { readonly json: boolean; readonly yes: boolean; readonly heads: readonly string[] },
): Command {
  switch (first) {
    case "serve":
    case "check":
      return rest.length === 0 ? { name: first } : invalid(`${first} takes no arguments`);
    case "help":
      return { name: "help" };
    case "flow": {
      const [flowId] = rest;
      return flowId !== undefined && rest.length === 1
        ? { name: "flow", flowId, json }
        : invalid("flow takes one flow id");
    }
    case "keys":
      return parseKeys(rest, yes);
    case "audit":
      return parseAudit(rest, heads);
    default:
      return invalid(`there is no command '${first.slice(0, 40)}'`);
  }
}

function parseKeys([action, ...rest]: readonly string[], yes: boolean): Command {
  if (action === "adopt") {
    const [revision = ""] = rest;
    return rest.length === 1 && /^\d{1,9}$/.test(revision)
      ? { name: "keys-adopt", revision: Number(revision) }
      : invalid("keys adopt takes the revision of the keyset that is meant");
  }
  if (rest.length === 0 && action === "list") return { name: "keys-list" };
  if (rest.length === 0 && action === "rotate") return { name: "keys-rotate" };
  if (rest.length === 0 && action === "new") return { name: "keys-new", yes };
  return invalid("keys takes one of: list, rotate, adopt, new");
}

function parseAudit([action, file, ...rest]: readonly string[], heads: readonly string[]): Command {
  if (action !== "verify") return invalid("audit takes: verify FILE");
  if (file === undefined || file === "" || rest.length > 0)
    return invalid("audit verify takes one file, or - for stdin");
  if (!heads.every((head) => /^[0-9a-f]{64}$/i.test(head))) {
    return invalid("--head takes a hash: the 64 hexadecimal digits of an audit_head line");
  }
  return { name: "audit-verify", file, heads: heads.map((head) => head.toLowerCase()) };
}

function invalid(problem: string): Command {
  return { name: "invalid", message: `broker: ${problem}.\nRun 'broker --help' for the commands.` };
}
