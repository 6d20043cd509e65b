/** `broker flow ID` and the sandbox page: what happened to one flow, from its record, without anything secret in it. */
import type { EpochSeconds, RecordStore } from "@oauth-broker/oauth-core";
import { asFlow, flowKey, type LegMark } from "./flow-record.ts";

export interface TimelineLeg {
  readonly leg: "pushed" | "started" | "parked" | "spent" | "failed";
  readonly at: EpochSeconds;
  readonly checks: readonly string[];
  /** Of a failure. */
  readonly reason?: string;
}

export interface Timeline {
  readonly flowId: string;
  readonly stage: string;
  readonly clientId: string;
  readonly vendor: string;
  readonly credentials: string;
  readonly scope: readonly string[];
  readonly expiresAt: EpochSeconds;
  readonly legs: readonly TimelineLeg[];
}

/** @returns undefined for a flow that never was or is older than an hour */
export async function readTimeline(flowId: string, records: RecordStore): Promise<Timeline | undefined> {
  const record = await records.get(flowKey(flowId), { includeExpired: true });
  if (record === undefined) return undefined;
  const flow = asFlow(record);
  const mark = (leg: TimelineLeg["leg"], done: LegMark | undefined, reason?: string): TimelineLeg[] =>
    done === undefined ? [] : [{ leg, at: done.at, checks: done.checks, ...(reason === undefined ? {} : { reason }) }];
  return {
    flowId,
    stage: record.stage,
    clientId: flow.clientId,
    vendor: flow.vendor,
    credentials: `${flow.credentialsSource} (${flow.credentialsId})`,
    scope: flow.scope,
    expiresAt: record.expiresAt,
    legs: [
      ...mark("pushed", flow.pushed),
      ...mark("started", flow.started),
      ...mark("parked", flow.parked),
      ...mark("spent", flow.spent),
      ...mark("failed", flow.failed, flow.failed && `${flow.failed.leg}: ${flow.failed.reason}`),
    ],
  };
}
