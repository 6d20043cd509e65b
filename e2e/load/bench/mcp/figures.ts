/**
 * Turns the measurements of `/mcp` into figures: medians, ratios to the server without auth in the
 * same round, the aim.
 */
import type { McpMeasurement } from "./measure.ts";
import { MCP_SUBJECTS, type McpSubject } from "./harness.ts";
import { aimLine, columns, percent, type Spread, spreadOf, withQuartiles } from "../../spread.ts";

export const TOOLS = ["nothing", "token"] as const;
type ToolName = (typeof TOOLS)[number];
/** For a server with its own token endpoint. */
export const REFRESHERS = ["sqlite", "dynamodb"] as const;
type Refresher = (typeof REFRESHERS)[number];

export interface McpRound {
  readonly calls: Readonly<Record<ToolName, Readonly<Record<McpSubject, McpMeasurement>>>>;
  /** A refresh at our own token endpoint, and a call with the new token. */
  readonly refreshes: Readonly<Record<Refresher, McpMeasurement>>;
}

export interface CallFigures {
  /** CPU time of the server's process, per call. */
  readonly cpuMicroseconds: Spread;
  /** Relative to the server without auth, same tool, same round. */
  readonly ratio: Spread;
  readonly busy: number;
}

export interface RefreshFigures {
  readonly cpuMicroseconds: Spread;
  readonly perSecond: Spread;
  readonly p99Milliseconds: Spread;
}

export interface McpFigures {
  readonly calls: Readonly<Record<ToolName, Readonly<Record<McpSubject, CallFigures>>>>;
  readonly refreshes: Readonly<Record<Refresher, RefreshFigures>>;
}

/**
 * The largest allowed median ratio of a call that takes the vendor token, hosted mode on SQLite.
 */
export const MCP_LIMIT = 1.25;

/** @param rounds at least one */
export function mcpFiguresOf(rounds: readonly McpRound[]): McpFigures {
  const call = (tool: ToolName, subject: McpSubject): CallFigures => {
    const measured = rounds.map(({ calls }) => calls[tool]);
    return {
      cpuMicroseconds: spreadOf(measured.map((round) => round[subject].cpuMicroseconds)),
      ratio: spreadOf(measured.map((round) => round[subject].cpuMicroseconds / round.open.cpuMicroseconds)),
      busy: spreadOf(measured.map((round) => round[subject].busy)).median,
    };
  };
  const refresh = (subject: Refresher): RefreshFigures => {
    const measured = rounds.map(({ refreshes }) => refreshes[subject]);
    return {
      cpuMicroseconds: spreadOf(measured.map(({ cpuMicroseconds }) => cpuMicroseconds)),
      perSecond: spreadOf(measured.map(({ perSecond }) => perSecond)),
      p99Milliseconds: spreadOf(measured.map(({ p99Milliseconds }) => p99Milliseconds)),
    };
  };
  return {
    calls: recordOf(TOOLS, (tool) => recordOf(MCP_SUBJECTS, (subject) => call(tool, subject))),
    refreshes: recordOf(REFRESHERS, refresh),
  };
}

function recordOf<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value,
): Readonly<Record<Name, Value>> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}

export const MCP_LABELS: Readonly<Record<McpSubject, string>> = {
  open: "without auth",
  sqlite: "hosted, SQLite",
  dynamodb: "hosted, DynamoDB + KMS",
  preRegistered: "pre-registered",
};

const TOOL_LABELS: Readonly<Record<ToolName, string>> = { nothing: "does nothing", token: "takes the token" };

export function mcpTable({ calls, refreshes }: McpFigures): string {
  const callLines = TOOLS.flatMap((tool) =>
    MCP_SUBJECTS.map((subject) => {
      const { cpuMicroseconds, ratio, busy } = calls[tool][subject];
      const name = `${TOOL_LABELS[tool]}, ${MCP_LABELS[subject]}`.padEnd(42);
      const times = withQuartiles(ratio).padStart(22);
      return `${name}${columns(cpuMicroseconds, 7)}${times}${percent(busy)}`;
    }),
  );
  const refreshLines = REFRESHERS.map((subject) => {
    const { cpuMicroseconds, perSecond, p99Milliseconds } = refreshes[subject];
    return `${MCP_LABELS[subject].padEnd(42)}${columns(cpuMicroseconds, 7)}${columns(perSecond, 7)}${columns(p99Milliseconds, 7)}`;
  });
  return [
    `${"a tool that …: CPU of the process, µs".padEnd(42)}    min median    max × without auth (quartiles)  busy`,
    ...callLines,
    "",
    `${"refresh at /token + call".padEnd(42)}${"CPU, µs".padStart(21)}${"per second".padStart(21)}${"p99, ms".padStart(21)}`,
    ...refreshLines,
  ].join("\n");
}

export function mcpAimLine({ calls }: McpFigures): string {
  const { ratio } = calls.token.sqlite;
  const what = `a call that takes the vendor token, hosted, SQLite: ${withQuartiles(ratio)} × without auth`;
  return aimLine(ratio.median <= MCP_LIMIT, what, `at most ${MCP_LIMIT}`);
}
