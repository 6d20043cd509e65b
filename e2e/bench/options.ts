/** The command line of the bench. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

export const HELP = `Usage: npm run bench -- [OPTIONS]

CPU time per whole flow, and per refresh, of the built broker with memory and with SQLite, beside a bare node:http +
node:crypto server that takes the same wire steps. Prints a table and the ratios, and writes them as JSON.

  --flows N      flows, and refreshes, per server and round (default 2000)
  --rounds N     rounds (default 9)
  --warm-up N    flows, and refreshes, per server beforehand (default 30000): the engine compiles for that long
  --json PATH    where the results go (default e2e/bench/results/latest.json)
  --profile      run the servers under --cpu-prof and say where the profiles are; the figures are then no figures
  --help         this text

The machine should have nothing else to do. Linux or macOS.`;

export interface CommandLine {
  readonly help: boolean;
  readonly flows: number;
  readonly rounds: number;
  readonly warmUp: number;
  /** Absolute. */
  readonly jsonPath: string;
  readonly profile: boolean;
}

export const RESULTS_FOLDER: string = join(import.meta.dirname, "results");

/** @throws Error with a sentence for the user */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", short: "h", default: false },
      flows: { type: "string", default: "2000" },
      rounds: { type: "string", default: "9" },
      "warm-up": { type: "string", default: "30000" },
      json: { type: "string", default: join(RESULTS_FOLDER, "latest.json") },
      profile: { type: "boolean", default: false },
    },
  });
  return {
    help: values.help,
    flows: wholeNumber("--flows", values.flows),
    rounds: wholeNumber("--rounds", values.rounds),
    warmUp: wholeNumber("--warm-up", values["warm-up"], 0),
    jsonPath: resolve(values.json),
    profile: values.profile,
  };
}

function wholeNumber(name: string, text: string, from = 1): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : -1;
  if (value < from) throw new Error(`${name} takes a whole number from ${from}, not '${text}'`);
  return value;
}
