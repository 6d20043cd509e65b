/** The command line of the bench. */
import { type Given, wholeNumber } from "@oauth-broker/oauth-core/command-line";

export const HELP = `Usage: npm run bench -- [OPTIONS]

CPU time per operation, in tables and ratios with their quartiles. How cost grows: npm run scale.

  --only PART          one part; default: the first three
      broker           a whole flow and a refresh, with memory and with SQLite, beside a bare node:http + node:crypto
                       server that takes the same wire steps; the same at a vendor with ID tokens, beside one without
      store            calls of the token store and the record store on DynamoDB, beside the bare requests of the SDK, and
                       how often KMS is asked; on dynalite, or the DynamoDB Local at DYNAMODB_LOCAL_ENDPOINT
      mcp              a tool call with a stored vendor token, hosted on SQLite and on DynamoDB, and pre-registered,
                       beside the same server without auth; and how fast a refresh and a call are
      registry         how long its hundreds of vendors take to load
  --against COMMIT     builds the broker of that commit too, and measures both alternately in one run
  --rounds N           rounds (default 9)
  --flows N            flows, calls or operations of each kind, per subject and round (default 2000)
  --warm-up N          of each kind beforehand, at most (default 30000 for the broker, 15000 else): until CPU is steady
  --count              counts instead of times, the same on every machine: hashes, JSON calls, Buffer.from, promises and
                       bytes of log of a flow, a refresh, a call of /mcp and an operation of each store
  --profile            run the servers under --cpu-prof, and say where the profiles are, and which parts of the broker the
                       CPU went to; the figures are then no figures
  -h, --help           this text
  -v, --version        the version

The machine should have nothing else to do. Linux or macOS.`;

const PARTS = ["broker", "store", "mcp", "registry"] as const;
export type Part = (typeof PARTS)[number];

export const OPTIONS = {
  only: { type: "string" },
  against: { type: "string" },
  rounds: { type: "string", default: "9" },
  flows: { type: "string", default: "2000" },
  "warm-up": { type: "string" },
  profile: { type: "boolean", default: false },
  count: { type: "boolean", default: false },
} as const;

export type CommandLine = ReturnType<typeof commandLineOf>;
/**
 * @returns `warmUp` is undefined by default, which depends on the part
 * @throws Error with a sentence for the user
 */
export function commandLineOf({ values }: Given<typeof OPTIONS>) {
  const { only, against, profile, count, "warm-up": warmUp } = values;
  const parts = PARTS.filter((part) => (only === undefined ? part !== "registry" : part === only));
  if (parts.length === 0) throw new Error(`--only takes ${PARTS.join(", ")}, not '${only}'`);
  if (against !== undefined && !parts.includes("broker")) {
    throw new Error("--against measures the broker: leave --only out, or say --only broker");
  }
  return {
    parts,
    rounds: wholeNumber("--rounds", values.rounds),
    flows: wholeNumber("--flows", values.flows),
    warmUp: warmUp === undefined ? undefined : wholeNumber("--warm-up", warmUp, 0),
    against,
    profile,
    count,
  };
}
