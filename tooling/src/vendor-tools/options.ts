/** Parses the command line of the vendor tools. Runs nothing. */
import { join } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import { type CommandLine, defined, noSuchCommand, readCommandLine, usageMessage } from "@oauth-broker/oauth-core";
import { ROOT } from "../sources.ts";
import { DRIFT_HELP, FIND_HELP, HELP, NEW_HELP, PROBE_HELP, TRY_HELP } from "./help.ts";
import { firstClassIds } from "./known-vendor.ts";
import type { DriftOptions } from "./commands/drift.ts";
import type { NewOptions } from "./commands/new.ts";
import type { ProbeOptions } from "./commands/probe.ts";
import { refusal } from "./refusal.ts";
import type { StaleOptions } from "./commands/stale.ts";
import type { TryOptions } from "./commands/try.ts";
import manifest from "../../package.json" with { type: "json" };

export type Command =
  /** Help, or the version. */
  | { readonly name: "help"; readonly text: string }
  | { readonly name: "find"; readonly query: string }
  | ({ readonly name: "drift" } & DriftOptions)
  | ({ readonly name: "new" } & NewOptions)
  | ({ readonly name: "probe" } & ProbeOptions)
  | ({ readonly name: "stale" } & StaleOptions)
  | ({ readonly name: "try" } & TryOptions);

const VENDORS = join(ROOT, "packages/oauth-core/src/registry/first-class");

const FIXTURES = join(ROOT, "packages/simulators/src/vendors/fixtures");

const COMMON = {
  loopback: { type: "boolean", default: false },
} as const;

/** The options of the commands about a vendor of the registry. */
const ABOUT_VENDOR = {
  ...COMMON,
  placeholder: { type: "string", multiple: true },
  endpoint: { type: "string", multiple: true },
} as const;

const PROGRAM = "npm run vendor --";
const COMMANDS = { drift: parseDrift, find: parseFind, new: parseNew, probe: parseProbe, try: parseTry };

/** @throws Refusal */
export function parseCommand(args: readonly string[]): Command {
  const [name = "help", ...rest] = args;
  if (name === "help") return { name: "help", text: HELP };
  if (isCommand(name)) return COMMANDS[name](rest);
  const read = readCommandLine(args, {}, { words: true });
  if (read.kind === "given") throw misunderstood(noSuchCommand(name, Object.keys(COMMANDS)));
  return answered(read, HELP);
}

const isCommand = (name: string): name is keyof typeof COMMANDS => Object.hasOwn(COMMANDS, name);

function parseFind(args: readonly string[]): Command {
  const read = readCommandLine(args, {}, { words: true });
  if (read.kind !== "given") return answered(read, FIND_HELP);
  const query = read.words.join(" ");
  if (!/[\p{L}\p{N}]/u.test(query)) throw refusal(`find takes a word.\n\n${FIND_HELP}`);
  return { name: "find", query };
}

function parseDrift(args: readonly string[]): Command {
  const read = readCommandLine(args, { json: { type: "boolean", default: false } }, { words: true });
  if (read.kind !== "given") return answered(read, DRIFT_HELP);
  if (read.words.length === 0) throw refusal(`drift takes a file.\n\n${DRIFT_HELP}`);
  return { name: "drift", files: read.words, json: read.values.json };
}

function parseNew(args: readonly string[]): Command {
  const read = readCommandLine(
    args,
    {
      ...COMMON,
      issuer: { type: "string" },
      id: { type: "string" },
      name: { type: "string" },
      out: { type: "string", default: VENDORS },
    },
    { words: true },
  );
  if (read.kind !== "given") return answered(read, NEW_HELP);
  const { issuer, id, name, out, loopback } = read.values;
  if (issuer === undefined || read.words.length > 0) throw refusal(`new takes --issuer URL.\n\n${NEW_HELP}`);
  return {
    name: "new",
    issuer,
    out,
    loopback,
    ...defined({ id, displayName: name }),
  };
}

function parseProbe(args: readonly string[]): Command {
  const read = readCommandLine(
    args,
    {
      ...ABOUT_VENDOR,
      json: { type: "boolean", default: false },
      "all-first-class": { type: "boolean", default: false },
      all: { type: "boolean", default: false },
      stale: { type: "string" },
    },
    { words: true },
  );
  if (read.kind !== "given") return answered(read, PROBE_HELP);
  const { all, stale, "all-first-class": isAll, placeholder = [], endpoint = [], loopback, json } = read.values;
  if (stale !== undefined && !all) throw refusal("--stale goes with --all");
  const isOwn = read.words.length === 0 && placeholder.length === 0 && endpoint.length === 0;
  if (isAll || all ? !isOwn || (isAll && all) : read.words.length !== 1) {
    throw refusal(`probe takes one vendor, or --all-first-class or --all alone.\n\n${PROBE_HELP}`);
  }
  if (all) return { name: "stale", staleDays: days(stale), json };
  return {
    name: "probe",
    ids: isAll ? firstClassIds() : read.words,
    placeholders: pairs("--placeholder", placeholder),
    endpoints: pairs("--endpoint", endpoint),
    loopback,
    json,
  };
}

function days(stale = "90d"): number {
  const [, count] = /^([1-9]\d{0,3})d$/.exec(stale) ?? [];
  if (count === undefined) throw refusal("--stale takes a number of days, such as 90d");
  return Number(count);
}

function parseTry(args: readonly string[]): Command {
  const read = readCommandLine(
    args,
    {
      ...ABOUT_VENDOR,
      scope: { type: "string" },
      resource: { type: "string" },
      port: { type: "string", default: "8790" },
      "redirect-uri": { type: "string" },
      register: { type: "boolean", default: false },
      timeout: { type: "string", default: "600" },
      out: { type: "string" },
    },
    { words: true },
  );
  if (read.kind !== "given") return answered(read, TRY_HELP);
  const { values, words } = read;
  const {
    placeholder = [],
    endpoint = [],
    loopback,
    register,
    scope,
    resource,
    out,
    "redirect-uri": redirectUri,
  } = values;
  const [id] = words;
  if (id === undefined || words.length !== 1) throw refusal(`try takes one vendor.\n\n${TRY_HELP}`);
  if (out === undefined && (loopback || endpoint.length > 0)) {
    throw refusal("Answers of another server are not a fixture of the vendor. Give --out FOLDER");
  }
  return {
    name: "try",
    id,
    placeholders: pairs("--placeholder", placeholder),
    endpoints: pairs("--endpoint", endpoint),
    loopback,
    register,
    port: integer("--port", values.port, 65_535),
    timeoutSeconds: integer("--timeout", values.timeout, 86_400),
    out: out ?? FIXTURES,
    ...defined({ scope: scope?.split(/\s+/).filter((one) => one !== ""), resource, redirectUri }),
  };
}

function integer(option: string, text: string, max: number): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > max) throw refusal(`${option} takes a number from 0 to ${max}`);
  return Number(text);
}

/** @param given `name=value`, each name once */
function pairs(option: string, given: readonly string[]): Record<string, string> {
  const entries = given.map((pair) => {
    const [, name = "", value = ""] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    if (name === "") throw refusal(`${option} takes name=value`);
    return [name, value] as const;
  });
  const known = new Map(entries);
  if (known.size !== entries.length) throw refusal(`${option} repeats a name`);
  return Object.fromEntries(known);
}

/** @throws Refusal for a command line that is not understood */
function answered(
  read: Exclude<CommandLine<ParseArgsOptionsConfig>, { readonly kind: "given" }>,
  help: string,
): Command {
  if (read.kind === "invalid") throw misunderstood(read.problem);
  return { name: "help", text: read.kind === "help" ? help : manifest.version };
}

const misunderstood = (problem: string): Error => refusal(usageMessage(PROGRAM, problem));
