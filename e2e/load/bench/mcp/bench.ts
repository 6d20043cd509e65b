/**
 * The `/mcp` bench: what a tool call with a bearer token and a stored vendor token costs beside the
 * same server without auth, how fast a refresh and a call are, and when asked for that of many
 * concurrent calls none gets data of another user.
 */
import { describeMachine } from "../../machine.ts";
import { type McpFigures, mcpFiguresOf, type McpRound, MCP_LABELS, REFRESHERS, TOOLS } from "./figures.ts";
import { type Driver, type McpMeasurement, openDriver } from "./measure.ts";
import { type Mixed, runMixed } from "./mixed.ts";
import { MCP_SUBJECTS, type McpHarness, type McpSubject, startMcpHarness } from "./harness.ts";
import { CONNECTIONS } from "../broker/measure.ts";
import { measureRounds, orderOf, type RunRound } from "../../rounds.ts";

export interface McpBenchOptions {
  /** Calls per server, tool and round; refreshes are a quarter of them. */
  readonly calls: number;
  readonly rounds: number;
  /** Calls per server and tool before the first round, at most: see rounds.ts. */
  readonly callsWarmUp: number;
  /**
   * Concurrent calls of 200 users, each with its answer checked: on SQLite, and a tenth on
   * DynamoDB; 0 = none.
   */
  readonly mixedCalls: number;
  readonly profileFolder?: string;
}

export interface McpResults extends Pick<McpBenchOptions, "calls" | "rounds"> {
  /** Calls per server and tool that it took. */
  readonly callsWarmUp: number;
  readonly connections: number;
  readonly node: string;
  readonly machine: string;
  readonly engine: string;
  readonly profiled: boolean;
  readonly figures: McpFigures;
  readonly mixed: Mixed | undefined;
  readonly measurements: readonly McpRound[];
}

const REFRESH_PART = 0.25;

/**
 * @param say prints a line of progress
 * @throws Error when a process ends, or an answer is wrong
 */
export async function runMcpBench(options: McpBenchOptions, say: (line: string) => void): Promise<McpResults> {
  const harness = await startMcpHarness({ profileFolder: options.profileFolder });
  try {
    const { measurements, warmUp: callsWarmUp } = await runRounds(harness, options, say);
    const mixed = options.mixedCalls === 0 ? undefined : await runMixed(harness, options.mixedCalls, say);
    const { calls, rounds, profileFolder } = options;
    return {
      calls,
      rounds,
      callsWarmUp,
      connections: CONNECTIONS,
      node: process.version,
      machine: describeMachine(),
      engine: harness.engine,
      profiled: profileFolder !== undefined,
      figures: mcpFiguresOf(measurements),
      mixed,
      measurements,
    };
  } finally {
    await harness.stop();
  }
}

type Drivers = Readonly<Record<McpSubject, Driver>>;

async function runRounds(
  harness: McpHarness,
  options: McpBenchOptions,
  say: (line: string) => void,
): Promise<{ readonly measurements: McpRound[]; readonly warmUp: number }> {
  const opened = await Promise.all(MCP_SUBJECTS.map(async (subject) => [subject, await openDriver(harness, subject)]));
  const drivers = Object.fromEntries(opened) as Drivers;
  const { calls: count, rounds, callsWarmUp } = options;
  try {
    const run: RunRound<McpRound> = (calls, round, report) => runRound(drivers, calls, round, report);
    return await measureRounds({ count, rounds, warmUp: callsWarmUp }, run, costsOf, say);
  } finally {
    await Promise.all(Object.values(drivers).map((driver) => driver.close()));
  }
}

/** By tool and server, for the warm-up. */
function costsOf({ calls }: McpRound): Record<string, number> {
  return Object.fromEntries(
    TOOLS.flatMap((tool) =>
      MCP_SUBJECTS.map((subject) => [`${tool} ${subject}`, calls[tool][subject].cpuMicroseconds]),
    ),
  );
}

async function runRound(
  drivers: Drivers,
  count: number,
  number: number,
  say: (line: string) => void,
): Promise<McpRound> {
  const report = (what: string, subject: McpSubject, { cpuMicroseconds }: McpMeasurement): void =>
    say(`${what.padEnd(8)} ${MCP_LABELS[subject].padEnd(24)} ${cpuMicroseconds.toFixed(0).padStart(6)} µs`);
  const calls: Record<string, Record<string, McpMeasurement>> = {};
  for (const tool of TOOLS) {
    const measured: Record<string, McpMeasurement> = {};
    for (const subject of orderOf(MCP_SUBJECTS, number)) {
      const one = await drivers[subject].measure(tool, count);
      measured[subject] = one;
      report(tool, subject, one);
    }
    calls[tool] = measured;
  }
  const refreshes: Record<string, McpMeasurement> = {};
  for (const subject of orderOf(REFRESHERS, number)) {
    const one = await drivers[subject].measure("refresh", Math.ceil(count * REFRESH_PART));
    refreshes[subject] = one;
    report("refresh", subject, one);
  }
  return { calls, refreshes } as unknown as McpRound;
}
