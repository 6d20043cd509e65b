/** What the legs share: the app's policy, and the writes and words that are the same on each of them. */
import { defined } from "../mechanics/defined.ts";
import type { EpochSeconds, RecordKey } from "../ports.ts";
import type { Trace } from "../service/http-layer.ts";
import type { FlowDeps, FlowPolicy, FlowVendor } from "./policy.ts";
import { flowData, type FlowRecord } from "./record.ts";

/** The app's own types come back at index.ts. */
export interface Engine {
  readonly deps: FlowDeps;
  readonly policy: FlowPolicy<FlowRecord, FlowVendor>;
}

export function keyOf(flowId: string, { policy: { kind } }: Engine): RecordKey {
  return { kind, id: flowId };
}

/** For the log: whose flow it is, as far as the record says. */
export function nameFlow(trace: Trace, { clientId, vendor, credentialsId }: FlowRecord): void {
  trace.vendor = vendor;
  if (clientId !== undefined) trace.clientId = clientId;
  if (credentialsId !== undefined) trace.credentialsId = credentialsId;
}

/** Where a record must be for us to end it. */
export interface Endable {
  readonly flowId: string;
  readonly stage: "pushed" | "started" | "redeeming" | "parked" | "spent";
  readonly expect: Readonly<Record<string, string>>;
}

/** → failed. @returns false where the record was moved by another request meanwhile */
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
