/**
 * Parses the command line into a value: the command to run, or what is wrong with the arguments.
 * Runs and prints nothing; main.ts and operator.ts do that.
 */
import { type Given, readCommand, type UsageAnswer } from "@oauth-broker/oauth-core/command-line";
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
  | { readonly name: "audit-verify"; readonly file: string; readonly heads: readonly string[] };

const HELP = `Usage: broker [COMMAND]

Commands
  serve            run the broker (the default)
  check            say what the configuration amounts to, and everything that keeps a broker with it from becoming ready:
                   in the file, at the store, at the keys; changes nothing
  flow ID          the timeline of one flow, without secrets; ID is the flow_id of a page, redirect, error or log line
  keys list        the broker's own keys: which one is in use, which ones only open
  keys rotate      add a key; it takes over a minute later, the old ones go on opening what they sealed
  keys adopt N     accept the keyset of revision N in the store although it belongs to another base_url or table, or
                   is older than one that was in use: after a move, or a backup restored on purpose
  keys new         replace keys that are gone by new keys, after asking: every connection ends
  audit verify FILE
                   whether the lines of an audit stream hold together, and which do not; - reads them from stdin

Options
  --json           with flow: as JSON
  --yes            with keys new: do not ask
  --head HASH      with audit verify: a head from the log (audit_head) that must be there; may be given several times
  --sandbox        from source only: the sandbox, also beside a configuration; \`npm start\` has this option
  -h, --help       this text
  -v, --version    the version

Environment
  BROKER_CONFIG    the configuration, a YAML file; default broker.yaml in the start directory
  BASE_URL, HOST, PORT, STORE
                   win over base_url, listen.host, listen.port and store of the file
  VENDOR_<ID>_CLIENT_ID, VENDOR_<ID>_CLIENT_SECRET
                   credentials of a vendor for which the file has none
  AWS_...          with a dynamodb: store or kms: keys, the AWS SDK's own: credentials without a role,
                   AWS_ENDPOINT_URL_KMS for a key service at an address of its own

From source, without any of BROKER_CONFIG, broker.yaml, BASE_URL, STORE and a HOST that others can reach, the broker runs
as a sandbox on this machine. Every field of the file: docs/configuration.md.

Exit codes: 0 done, 1 could not start, could not be done or (check) would not become ready, 2 the command line is not understood.`;

/** What the arguments ask for. */
export interface Request {
  readonly command: Command;
  /** The sandbox, also if a configuration exists. */
  readonly sandbox: boolean;
}

const OPTIONS = {
  json: { type: "boolean", default: false },
  yes: { type: "boolean", default: false },
  head: { type: "string", multiple: true },
  sandbox: { type: "boolean", default: false },
} as const;

const COMMANDS = ["serve", "check", "flow", "keys", "audit"] as const;

/** @param args the arguments without the program and the script, as in `process.argv.slice(2)` */
export function parseCommand(args: readonly string[]): Request | UsageAnswer {
  const about = { program: "broker", help: HELP, version: manifest.version, commands: COMMANDS };
  return readCommand(args, OPTIONS, about, (given) => ({ command: commandOf(given), sandbox: given.values.sandbox }));
}

function commandOf({ words, values }: Given<typeof OPTIONS>): Command {
  const command = parseWords(words, values);
  const misplaced = [
    values.head !== undefined && command.name !== "audit-verify" && "--head goes with audit verify only",
    values.json && command.name !== "flow" && "--json goes with flow only",
    values.yes && command.name !== "keys-new" && "--yes goes with keys new only",
  ].find((problem) => problem !== false);
  if (misplaced !== undefined) throw new Error(misplaced);
  return command;
}

type Values = Given<typeof OPTIONS>["values"];

function parseWords([first = "serve", ...rest]: readonly string[], { json, yes, head = [] }: Values): Command {
  switch (first) {
    case "serve":
    case "check":
      if (rest.length > 0) throw new Error(`${first} takes no arguments`);
      return { name: first };
    case "flow": {
      const [flowId] = rest;
      if (flowId === undefined || rest.length > 1) throw new Error("flow takes one flow id");
      return { name: "flow", flowId, json };
    }
    case "keys":
      return parseKeys(rest, yes);
    default:
      return parseAudit(rest, head);
  }
}

function parseKeys([action, ...rest]: readonly string[], yes: boolean): Command {
  if (action === "adopt") {
    const [revision = ""] = rest;
    if (rest.length === 1 && /^\d{1,15}$/.test(revision)) return { name: "keys-adopt", revision: Number(revision) };
    throw new Error("keys adopt takes the revision of the keyset that is meant");
  }
  if (rest.length === 0 && action === "list") return { name: "keys-list" };
  if (rest.length === 0 && action === "rotate") return { name: "keys-rotate" };
  if (rest.length === 0 && action === "new") return { name: "keys-new", yes };
  throw new Error("keys takes one of: list, rotate, adopt, new");
}

function parseAudit([action, file, ...rest]: readonly string[], heads: readonly string[]): Command {
  if (action !== "verify") throw new Error("audit takes: verify FILE");
  if (file === undefined || file === "" || rest.length > 0)
    throw new Error("audit verify takes one file, or - for stdin");
  if (!heads.every((head) => /^[0-9a-f]{64}$/i.test(head))) {
    throw new Error("--head takes a hash: the 64 hexadecimal digits of an audit_head line");
  }
  return { name: "audit-verify", file, heads: heads.map((head) => head.toLowerCase()) };
}
