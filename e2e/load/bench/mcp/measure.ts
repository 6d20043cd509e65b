/**
 * One measurement of the `/mcp` bench: a number of operations over 32 connections, by as many users
 * in turn, against one server.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, openConnection } from "../../connection.ts";
import { cpuMicroseconds } from "../../cpu-time.ts";
import { callTool, connect, connectAtVendor, refresh, type Session, userName } from "./client.ts";
import type { McpHarness, McpSubject } from "./harness.ts";
import { CONNECTIONS, type Measurement } from "../broker/measure.ts";

/**
 * `nothing`, `token`: a call of that tool. `refresh`: our refresh token spent at `/token`, then a
 * call with the new tokens.
 */
export type McpWork = "nothing" | "token" | "refresh";

export interface McpMeasurement extends Measurement {
  readonly perSecond: number;
  /** Per operation, as the client measured it. */
  readonly p99Milliseconds: number;
}

export interface Driver {
  measure(work: McpWork, count: number): Promise<McpMeasurement>;
  close(): Promise<void>;
}

/**
 * Long enough for a buffered log to be written, so that its cost falls into the right measurement.
 */
const SETTLE_MS = 150;

/** Connects one user for each connection. */
export async function openDriver(harness: McpHarness, subject: McpSubject): Promise<Driver> {
  const { url, pid } = harness.servers[subject];
  const lanes = await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, number): Promise<Lane> => {
      const connection = openConnection(url);
      const user = userName(number);
      const session =
        subject === "preRegistered" ? connectAtVendor(harness.vendorUrl, user) : connect(connection, user);
      return { connection, session: await session };
    }),
  );
  return {
    measure: async (work, count) => {
      await sleep(SETTLE_MS);
      const cpuAtStart = cpuMicroseconds(pid);
      const startedAt = performance.now();
      const milliseconds = await repeat(work, count, lanes);
      const wallMicroseconds = (performance.now() - startedAt) * 1000;
      const cpuAtEnd = cpuMicroseconds(pid);
      await sleep(SETTLE_MS);
      return {
        cpuMicroseconds: (cpuMicroseconds(pid) - cpuAtStart) / count,
        busy: (cpuAtEnd - cpuAtStart) / wallMicroseconds,
        perSecond: (count / wallMicroseconds) * 1_000_000,
        p99Milliseconds: quantile(milliseconds, 0.99),
      };
    },
    close: async () => {
      await Promise.all(lanes.map(({ connection }) => connection.close()));
    },
  };
}

interface Lane {
  readonly connection: Connection;
  session: Session;
}

async function repeat(work: McpWork, count: number, lanes: readonly Lane[]): Promise<number[]> {
  const milliseconds: number[] = [];
  let left = count;
  await Promise.all(
    lanes.map(async (lane) => {
      while (left > 0) {
        left -= 1;
        const startedAt = performance.now();
        if (work === "refresh") lane.session = await refresh(lane.connection, lane.session);
        await callTool(lane.connection, lane.session.accessToken, work === "refresh" ? "token" : work);
        milliseconds.push(performance.now() - startedAt);
      }
    }),
  );
  return milliseconds;
}

/** @param values at least one */
function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
}
