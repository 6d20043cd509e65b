/** Parses the command line of the vendor tools. Runs nothing. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { join } from "node:path";
import { ROOT } from "../sources.ts";
import { FIND_HELP, HELP, NEW_HELP, PROBE_HELP, TRY_HELP } from "./help.ts";
import { firstClassIds } from "./known-vendor.ts";
import type { NewOptions } from "./commands/new.ts";
import type { ProbeOptions } from "./commands/probe.ts";
import { refusal } from "./refusal.ts";
import type { StaleOptions } from "./commands/stale.ts";
import type { TryOptions } from "./commands/try.ts";

export type Command =
  | { readonly name: "help"; readonly text: string }
  | { readonly name: "find"; readonly query: string }
  | ({ readonly name: "new" } & NewOptions)
  | ({ readonly name: "probe" } & ProbeOptions)
  | ({ readonly name: "stale" } & StaleOptions)
  | ({ readonly name: "try" } & TryOptions);

const VENDORS = join(ROOT, "packages/oauth-core/src/vendors");

const FIXTURES = join(ROOT, "packages/simulators/src/vendors/fixtures");

const COMMON = {
  help: { type: "boolean", short: "h", default: false },
  loopback: { type: "boolean", default: false },
} as const;

/** The options of the commands about a vendor of the registry. */
const ABOUT_VENDOR = {
  ...COMMON,
  placeholder: { type: "string", multiple: true },
  endpoint: { type: "string", multiple: true },
} as const;

/** @throws Refusal */
export function parseCommand([name, ...args]: readonly string[]): Command {
  switch (name) {
    case undefined:
    case "help":
    case "--help":
    case "-h":
      return { name: "help", text: HELP };
    case "find":
      return parseFind(args);
    case "new":
      return parseNew(args);
    case "probe":
      return parseProbe(args);
    case "try":
      return parseTry(args);
    default:
      throw refusal(`The command '${name.slice(0, 40)}' does not exist.\n\n${HELP}`);
  }
}

function parseFind(args: readonly string[]): Command {
  const { values, positionals } = read(args, { help: COMMON.help });
  if (values.help) return { name: "help", text: FIND_HELP };
  const query = positionals.join(" ");
  if (!/[\p{L}\p{N}]/u.test(query)) throw refusal(`find takes a word.\n\n${FIND_HELP}`);
  return { name: "find", query };
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

function parseProbe(args: readonly string[]): Command {
  const { values, positionals } = read(args, {
    ...ABOUT_VENDOR,
    json: { type: "boolean", default: false },
    "all-first-class": { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    stale: { type: "string" },
  });
  const { help, all, stale, "all-first-class": isAll, placeholder = [], endpoint = [], loopback, json } = values;
  if (help) return { name: "help", text: PROBE_HELP };
  if (stale !== undefined && !all) throw refusal("--stale goes with --all");
  const isOwn = positionals.length === 0 && placeholder.length === 0 && endpoint.length === 0;
  if (isAll || all ? !isOwn || (isAll && all) : positionals.length !== 1) {
    throw refusal(`probe takes one vendor, or --all-first-class or --all alone.\n\n${PROBE_HELP}`);
  }
  if (all) return { name: "stale", staleDays: days(stale), json };
  return {
    name: "probe",
    ids: isAll ? firstClassIds() : positionals,
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
  const { values, positionals } = read(args, {
    ...ABOUT_VENDOR,
    scope: { type: "string" },
    resource: { type: "string" },
    port: { type: "string", default: "8790" },
    "redirect-uri": { type: "string" },
    register: { type: "boolean", default: false },
    timeout: { type: "string", default: "600" },
    out: { type: "string" },
  });
  const { help, placeholder = [], endpoint = [], loopback, register, scope, resource, out } = values;
  if (help) return { name: "help", text: TRY_HELP };
  const [id] = positionals;
  if (id === undefined || positionals.length !== 1) throw refusal(`try takes one vendor.\n\n${TRY_HELP}`);
  if (out === undefined && (loopback || endpoint.length > 0)) {
    throw refusal("Answers of another server are not a fixture of the vendor. Give --out FOLDER");
  }
  const redirectUri = values["redirect-uri"];
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
    ...(scope === undefined ? {} : { scope: scope.split(/\s+/).filter((one) => one !== "") }),
    ...(resource === undefined ? {} : { resource }),
    ...(redirectUri === undefined ? {} : { redirectUri }),
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

function read<const T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node's message without its advice on positional arguments.
    const [sentence = ""] = error instanceof Error ? error.message.split(/\. |\n/) : [];
    throw refusal(`${sentence === "" ? "The options are not understood" : sentence}. --help lists the options.`);
  }
}
