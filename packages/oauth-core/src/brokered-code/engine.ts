/**
 * Shared by the legs: the app's policy, the record's key, the names in the log, and the end of a
 * flow.
 */
import { defined } from "../mechanics/defined.ts";
import type { EpochSeconds, RecordKey } from "../ports.ts";
import type { Trace } from "../service/http-layer.ts";
import type { FlowDeps, FlowPolicy, FlowVendor } from "./policy.ts";
import { flowData, type FlowRecord } from "./record.ts";

/** Without the app's own types, which index.ts restores. */
export interface Engine {
  readonly deps: FlowDeps;
  readonly policy: FlowPolicy<FlowRecord, FlowVendor>;
}

export function keyOf(flowId: string, { policy: { kind } }: Engine): RecordKey {
  return { kind, id: flowId };
}

/** Names the flow's client, vendor and credentials in the log line. */
export function nameFlow(trace: Trace, { clientId, vendor, credentialsId }: FlowRecord): void {
  trace.vendor = vendor;
  if (clientId !== undefined) trace.clientId = clientId;
  if (credentialsId !== undefined) trace.credentialsId = credentialsId;
}

/** The stage and fields that a record must have to be ended. */
export interface Endable {
  readonly flowId: string;
  readonly stage: "pushed" | "started" | "redeeming" | "parked" | "spent";
  readonly expect: Readonly<Record<string, string>>;
}

/**
 * Moves the record to `failed`.
 *
 * @returns false when another request has moved it
 */
export async function failFlow(
  { flowId, stage, expect }: Endable,
  { leg, reason }: Pick<NonNullable<FlowRecord["failed"]>, "leg" | "reason">,
  engine: Engine,
  expiresAt?: EpochSeconds,
): Promise<boolean> {
  const { records, now } = engine.deps;
  const { outcome } = await records.advance(
    keyOf(flowId, engine),
    { stage, expect },
    {
      stage: "failed",
      set: flowData({ failed: { at: now(), leg, reason } }),
      remove: engine.policy.forgotten.atEnd,
      ...defined({ expiresAt }),
    },
  );
  return outcome === "moved";
}
