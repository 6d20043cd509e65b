/**
 * Parses the command line into a value: the command to run, or what is wrong with the arguments.
 * Runs and prints nothing.
 */
import {
  type Given,
  noSuchCommand,
  readCommand,
  type UsageAnswer,
  wholeNumber,
} from "@oauth-broker/oauth-core/command-line";
import { CONNECTIONS } from "@oauth-broker/service/configuration";
import { DEFAULT_DATA, DEFAULT_PORT, DEFAULT_URL } from "./config.ts";
import type { Connector } from "./connectors/connector.ts";
import { isVariableName } from "./deploy/service-file/allowed-variables.ts";
import manifest from "../package.json" with { type: "json" };

interface OfProject {
  readonly folder: string;
  readonly dataDir: string | undefined;
}

export type Command =
  | ({ readonly name: "init"; readonly callback: Connector["callback"] | undefined } & OfProject)
  | ({ readonly name: "run"; readonly allowed: readonly string[] } & OfProject)
  | ({ readonly name: "status"; readonly json: boolean } & OfProject)
  | ({ readonly name: "logs"; readonly lines: number } & OfProject)
  | ({ readonly name: "serve" } & Pick<OfProject, "dataDir">);

export const EXIT = { done: 0, failed: 1, draft: 3 } as const;

const DEFAULT_LINES = "100";

const HELP = `Usage: platform serve
       platform deploy COMMAND [FOLDER]

FOLDER is a server's project, with its service.yaml; default: where this is called.

Commands
  serve            the pages: connectors, settings, Connect, Try; sample users without passwords, hence on loopback only
  deploy init      create the connector, as a draft
  deploy run       start the server behind the ingress, test the connection, activate the connector; runs until it is stopped
  deploy status    the connector's state, and what to do next
  deploy logs      what the server wrote

Options
  --own-callback, --shared-callback
                   with init: which redirect URI a hosted server has. Its own (new connectors have it, older ones
                   change with this option), or /oauth/callback, which it shares with other connectors: warned of
  --data DIR       the platform's own data; default ./${DEFAULT_DATA}, or PLATFORM_DATA_DIR
  --env NAME       with run, repeatable: a variable of this environment that the server may have, if its service.yaml
                   says env:NAME; every other is refused
  --lines N        with logs: how many lines, default ${DEFAULT_LINES}
  --json           with status: as JSON
  -h, --help       this text
  -v, --version    the version

Environment
  PLATFORM_URL           where the platform is reached, default ${DEFAULT_URL}. The redirect URI to register with
                         vendors is below it: /oauth/callback, of a hosted server /oauth/connectors/NAME/callback
  EGRESS_ALLOW_CIDRS     private networks that vendors' endpoints may be in
  PORT                   with serve: where it listens behind a proxy, default the port in PLATFORM_URL, else ${DEFAULT_PORT}
  MAX_CONNECTIONS        with serve: connections at a time, default ${CONNECTIONS.usual}; any more are closed at once
  BROKER_URL, BROKER_CLIENT_ID, BROKER_CLIENT_SECRET
                         with serve: the broker and this platform's client there, for connectors that go through it
  EVENTS_URL, EVENTS_SECRET
                         with serve: who gets a signed event when a user's connection ends or is back (docs/reconnect-events.md)

Exit codes: 0 stopped or done, 1 failed, 2 not understood, 3 left as a draft: the OAuth client is missing.`;

const DEPLOY = ["init", "run", "status", "logs"] as const;

/** @param args the arguments without the program and the script */
export function parseCommand(args: readonly string[]): Command | UsageAnswer {
  const about = { program: "platform", help: HELP, version: manifest.version, commands: ["serve", "deploy"] };
  // Without a word it says what there is.
  return readCommand(args.length === 0 ? ["help"] : args, OPTIONS, about, commandOf);
}

function commandOf({ words, values: given }: Given<typeof OPTIONS>): Command {
  const { data: dataDir, json, lines, env: allowed = [] } = given;
  const callbacks = callbacksIn(given);
  const [first, action, folder = ".", ...rest] = words;
  if (first === undefined) throw new Error("a command is missing: serve or deploy");
  // A shell's variable that is not set would mean the current folder.
  if (dataDir === "" || words.includes("")) throw new Error("FOLDER and --data must not be empty");
  if (first === "serve") {
    const isPlain = words.length === 1 && !json && lines === undefined && callbacks.length + allowed.length === 0;
    if (!isPlain) throw new Error("serve takes nothing but --data");
    return { name: "serve", dataDir };
  }
  const name = DEPLOY.find((one) => one === action);
  if (name === undefined) {
    throw new Error(action === undefined ? `deploy takes one of: ${DEPLOY.join(", ")}` : noSuchCommand(action, DEPLOY));
  }
  if (rest.length > 0) throw new Error(`deploy ${name} takes one folder`);
  const misplaced = misplacedOption(name, given);
  if (misplaced !== undefined) throw new Error(misplaced);
  if (name === "run") return { name, folder, dataDir, allowed };
  if (name === "init") return { name, folder, dataDir, callback: callbacks[0] };
  if (name === "status") return { name, folder, dataDir, json };
  return { name, folder, dataDir, lines: wholeNumber("--lines", lines ?? DEFAULT_LINES, 1, 10_000) };
}

function misplacedOption(name: (typeof DEPLOY)[number], given: Values): string | undefined {
  const { json, lines, env: allowed = [] } = given;
  const callbacks = callbacksIn(given);
  if (json && name !== "status") return "--json goes with status only";
  if (lines !== undefined && name !== "logs") return "--lines goes with logs only";
  if (callbacks.length > 0 && name !== "init") return "--own-callback and --shared-callback go with init only";
  if (callbacks.length > 1) return "--own-callback and --shared-callback exclude each other";
  if (allowed.length > 0 && name !== "run") return "--env goes with run only";
  if (allowed.every(isVariableName)) return undefined;
  return "--env takes the name of a variable, without a value: the value comes from this environment";
}

const OPTIONS = {
  data: { type: "string" },
  json: { type: "boolean", default: false },
  lines: { type: "string" },
  env: { type: "string", multiple: true },
  "own-callback": { type: "boolean", default: false },
  "shared-callback": { type: "boolean", default: false },
} as const;

type Values = Given<typeof OPTIONS>["values"];

const callbacksIn = (given: Values): Connector["callback"][] =>
  (["own", "shared"] as const).filter((which) => given[`${which}-callback`]);
