/** The command line of the bench. */
import { join, resolve } from "node:path";
import type { CommandLine as Read } from "@oauth-broker/oauth-core/command-line";
import { wholeNumber } from "../../support/program.ts";

export const HELP = `Usage: npm run bench -- [OPTIONS]

Four scenarios: a whole flow, a refresh, a call of /mcp, an operation of the store.

The broker: CPU time per whole flow, and per refresh, of the built broker with memory and with SQLite, beside a bare
node:http + node:crypto server that takes the same wire steps; the same at a vendor that issues an ID token with each
answer, beside the one that issues none.
The store: CPU time per call of the token store and the record store on DynamoDB, beside the bare requests of the SDK; and
how often KMS is asked. The engine is dynalite, or the DynamoDB Local at DYNAMODB_LOCAL_ENDPOINT. No AWS account is used.
The MCP server: CPU time per tool call with a bearer token and a stored vendor token, hosted on SQLite and on DynamoDB, and
pre-registered, beside the same server without auth; and how fast a refresh and a call are.
The registry, only when it is named: how long its hundreds of vendors take to load, and what a look-up costs.
Prints tables and ratios with their quartiles, and writes them as JSON. How cost grows: npm run scale.

  --against COMMIT     builds the broker of that commit too, and measures both alternately in one run
  --only PART          broker, store, mcp or registry (default: broker, store and mcp)
  --rounds N           rounds (default 9)
  --flows N            flows, and refreshes, per server and round (default 2000)
  --warm-up N          flows, and refreshes, per server beforehand, at most (default 30000): until CPU per flow is steady
  --operations N       operations of each kind on the store, per round (default 2000)
  --store-warm-up N    operations of each kind on the store beforehand, at most (default 15000)
  --calls N            tool calls per server, tool and round (default 2000)
  --calls-warm-up N    tool calls per server and tool beforehand, at most (default 15000)
  --mixed-calls N      with mcp: calls of 200 users at once on SQLite, a tenth by 20 on DynamoDB, each checked for what is
                       another's (default 0 = none; 100000 take minutes)
  --registry-runs N    processes that load the registry, of each kind (default 15)
  --json PATH          where the results go (default e2e/load/bench/results/latest.json)
  --count              counts instead of times, the same on every machine: hashes, JSON calls, Buffer.from, promises and
                       bytes of log of a flow, a refresh, a call of /mcp and an operation of each store
  --profile            run the broker's servers under --cpu-prof, and the store's operations once more under a profiler,
                       and say where the profiles are, and which parts of the broker the CPU went to; the broker's figures
                       are then no figures
  -h, --help           this text
  -v, --version        the version

The machine should have nothing else to do. Linux or macOS.`;

export const PARTS = ["broker", "store", "mcp", "registry"] as const;
/** The four scenarios; the registry runs only when it is named. */
const DEFAULT_PARTS: readonly Part[] = ["broker", "store", "mcp"];
export type Part = (typeof PARTS)[number];

/** How much a part does: the default of each option that takes a number, and the least. */
const NUMBERS = {
  flows: [2000, 1],
  rounds: [9, 1],
  "warm-up": [30_000, 0],
  operations: [2000, 1],
  "store-warm-up": [15_000, 0],
  calls: [2000, 1],
  "calls-warm-up": [15_000, 0],
  "mixed-calls": [0, 0],
  "registry-runs": [15, 1],
} as const satisfies Readonly<Record<string, readonly [usual: number, least: number]>>;
type NumberName = keyof typeof NUMBERS;

export interface CommandLine {
  readonly numbers: Readonly<Record<NumberName, number>>;
  readonly parts: readonly Part[];
  /** A revision of git. */
  readonly againstCommit?: string;
  /** Absolute. */
  readonly jsonPath: string;
  readonly profile: boolean;
  /** Counts instead of times. */
  readonly count: boolean;
}

export const RESULTS_FOLDER: string = join(import.meta.dirname, "results");

const names = Object.keys(NUMBERS) as NumberName[];
const numbersAs = <T>(value: (name: NumberName) => T): Readonly<Record<NumberName, T>> =>
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<NumberName, T>;

export const OPTIONS = {
  ...numbersAs((name) => ({ type: "string", default: String(NUMBERS[name][0]) }) as const),
  only: { type: "string" },
  against: { type: "string" },
  json: { type: "string", default: join(RESULTS_FOLDER, "latest.json") },
  profile: { type: "boolean", default: false },
  count: { type: "boolean", default: false },
} as const;

/** @throws Error with a sentence for the user */
export function commandLineOf({ values }: Extract<Read<typeof OPTIONS>, { readonly kind: "given" }>): CommandLine {
  const { only, against, json, profile, count } = values;
  const parts = only === undefined ? DEFAULT_PARTS : [part(only)];
  if (against !== undefined && !parts.includes("broker")) {
    throw new Error("--against measures the broker: leave --only out, or say --only broker");
  }
  return {
    numbers: numbersAs((name) => wholeNumber(`--${name}`, values[name], NUMBERS[name][1])),
    parts,
    ...(against !== undefined && { againstCommit: against }),
    jsonPath: resolve(json),
    profile,
    count,
  };
}

function part(name: string): Part {
  const found = PARTS.find((part) => part === name);
  if (found === undefined) throw new Error(`--only takes ${PARTS.join(", ")}, not '${name}'`);
  return found;
}
