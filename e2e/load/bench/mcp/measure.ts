/**
 * One measurement of the `/mcp` bench: a number of operations over 32 connections, by as many users
 * in turn, against one server.
 */
import { type Connection, openConnection } from "../../connection.ts";
import { measureCpu, type Measurement } from "../../machine.ts";
import { callTool, connect, connectAtVendor, refresh, type Session, userName } from "../../mcp-client.ts";
import type { McpHarness, McpSubject } from "./harness.ts";
import { CONNECTIONS } from "../broker/measure.ts";

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
      let milliseconds: readonly number[] = [];
      const { byProcess: _, ...measured } = await measureCpu([pid], count, async () => {
        milliseconds = await repeat(work, count, lanes);
      });
      return { ...measured, p99Milliseconds: quantile(milliseconds, 0.99) };
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
