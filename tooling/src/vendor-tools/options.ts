/** Parses the command line of the vendor tools. Runs nothing: a command that is understood is returned. */
import { join } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import { defined } from "@oauth-broker/oauth-core";
import {
  type Given,
  namedValues,
  noSuchCommand,
  readCommand,
  type UsageAnswer,
  wholeNumber,
} from "@oauth-broker/oauth-core/command-line";
import { ROOT } from "../sources.ts";
import { runDrift } from "./commands/drift.ts";
import { runFind } from "./commands/find.ts";
import { runNew } from "./commands/new.ts";
import { runProbe } from "./commands/probe.ts";
import { runStale } from "./commands/stale.ts";
import { runTry } from "./commands/try.ts";
import type { Environment } from "./environment.ts";
import { DRIFT_HELP, FIND_HELP, HELP, NEW_HELP, PROBE_HELP, TRY_HELP } from "./help.ts";
import { firstClassIds } from "./known-vendor.ts";
import manifest from "../../package.json" with { type: "json" };

/** Returns the exit code. */
export type Command = (environment: Environment) => number | Promise<number>;

const VENDORS = join(ROOT, "packages/oauth-core/src/registry/first-class");

const FIXTURES = join(ROOT, "packages/simulators/src/vendors/fixtures");

const FLAG = { type: "boolean", default: false } as const;
const TEXT = { type: "string" } as const;

/** The options of the commands about a vendor of the registry. */
const ABOUT_VENDOR = {
  loopback: FLAG,
  placeholder: { type: "string", multiple: true },
  endpoint: { type: "string", multiple: true },
} as const;

const PROGRAM = "npm run vendor --";

type Parse = (args: readonly string[]) => Command;

/** @param understand throws an Error whose message is the problem */
function command<const T extends ParseArgsOptionsConfig>(
  help: string,
  options: T,
  understand: (given: Given<T>) => Command,
): Parse {
  return (args) => {
    const about = { program: PROGRAM, help, version: manifest.version, words: true };
    const read = readCommand(args, options, about, (given) => ({ run: understand(given) }));
    return "run" in read ? read.run : answer(read);
  };
}

const answer =
  ({ stream, text, exitCode }: UsageAnswer): Command =>
  ({ print, tell }) => {
    (stream === "stdout" ? print : tell)(text);
    return exitCode;
  };

const COMMANDS: Readonly<Record<string, Parse>> = {
  drift: command(DRIFT_HELP, { json: FLAG }, ({ words: files, values: { json } }) => {
    if (files.length === 0) throw new Error("drift takes a file");
    return (environment) => runDrift({ files, json }, environment);
  }),
  find: command(FIND_HELP, {}, ({ words }) => {
    const query = words.join(" ");
    if (!/[\p{L}\p{N}]/u.test(query)) throw new Error("find takes a word");
    return (environment) => runFind(query, environment);
  }),
  new: command(
    NEW_HELP,
    { loopback: FLAG, issuer: TEXT, id: TEXT, name: TEXT, out: { type: "string", default: VENDORS } },
    ({ words, values: { issuer, id, name: displayName, out, loopback } }) => {
      if (issuer === undefined || words.length > 0) throw new Error("new takes --issuer URL");
      return (environment) => runNew({ issuer, out, loopback, ...defined({ id, displayName }) }, environment);
    },
  ),
  probe: command(
    PROBE_HELP,
    { ...ABOUT_VENDOR, json: FLAG, "all-first-class": FLAG, all: FLAG, stale: TEXT },
    ({ words, values }) => {
      const { all, stale, "all-first-class": isAll, placeholder = [], endpoint = [], loopback, json } = values;
      if (stale !== undefined && !all) throw new Error("--stale goes with --all");
      const isOwn = words.length === 0 && placeholder.length === 0 && endpoint.length === 0;
      if (isAll || all ? !isOwn || (isAll && all) : words.length !== 1) {
        throw new Error("probe takes one vendor, or --all-first-class or --all alone");
      }
      const staleDays = days(stale);
      if (all) return (environment) => runStale({ staleDays, json }, environment);
      const ids = isAll ? firstClassIds() : words;
      const about = readAbout(placeholder, endpoint);
      return (environment) => runProbe({ ids, ...about, loopback, json }, environment);
    },
  ),
  try: command(
    TRY_HELP,
    {
      ...ABOUT_VENDOR,
      scope: TEXT,
      resource: TEXT,
      port: { type: "string", default: "8790" },
      "redirect-uri": TEXT,
      register: FLAG,
      timeout: { type: "string", default: "600" },
      out: TEXT,
    },
    ({ words: [id, ...more], values }) => {
      const { placeholder = [], endpoint = [], loopback, register, resource, out } = values;
      if (id === undefined || more.length > 0) throw new Error("try takes one vendor");
      if (out === undefined && (loopback || endpoint.length > 0)) {
        throw new Error("answers of another server are not a fixture of the vendor: give --out FOLDER");
      }
      const options = {
        id,
        ...readAbout(placeholder, endpoint),
        loopback,
        register,
        port: wholeNumber("--port", values.port, 0, 65_535),
        timeoutSeconds: wholeNumber("--timeout", values.timeout, 0, 86_400),
        out: out ?? FIXTURES,
        ...defined({
          scope: values.scope?.split(/\s+/).filter((one) => one !== ""),
          resource,
          redirectUri: values["redirect-uri"],
        }),
      };
      return (environment) => runTry(options, environment);
    },
  ),
};

export function parseCommand(args: readonly string[]): Command {
  const [name = "help", ...rest] = args;
  const parse = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (parse !== undefined) return parse(rest);
  const none = command(HELP, {}, () => {
    throw new Error(noSuchCommand(name, Object.keys(COMMANDS)));
  });
  return none(name === "help" ? ["--help"] : args);
}

function days(stale = "90d"): number {
  const [, count] = /^([1-9]\d{0,3})d$/.exec(stale) ?? [];
  if (count === undefined) throw new Error("--stale takes a number of days, such as 90d");
  return Number(count);
}

function readAbout(placeholder: readonly string[], endpoint: readonly string[]) {
  return {
    placeholders: Object.fromEntries(namedValues("--placeholder", "NAME=VALUE", placeholder)),
    endpoints: Object.fromEntries(namedValues("--endpoint", "NAME=URL", endpoint)),
  };
}
