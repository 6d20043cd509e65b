/**
 * Shared by the legs: the app's policy, the record's key, the names in the log, and the end of a
 * flow.
 */
import { parseRequestUri } from "../authorization-server/pushed-request.ts";
import { defined } from "../mechanics/defined.ts";
import type { EpochSeconds, RecordKey } from "../ports.ts";
import { isSameText } from "../protocol/secret.ts";
import { type Parameters, parseParameters } from "../protocol/parameters.ts";
import type { FlowDeps, FlowPolicy, FlowTrace, FlowVendor } from "./policy.ts";
import { flowData, type FlowRecord, type FlowStage } from "./record.ts";

/** Without the app's own types, which index.ts restores. */
export interface Engine {
  readonly deps: FlowDeps;
  readonly policy: FlowPolicy<FlowRecord, FlowVendor>;
}

export function keyOf(flowId: string, { policy: { kind } }: Engine): RecordKey {
  return { kind, id: flowId };
}

/** One request at one of the legs. */
export interface Leg extends Engine {
  readonly trace: FlowTrace;
}

/** Names the flow's client, vendor and credentials in the log line. */
export function nameFlow(trace: FlowTrace, { clientId, vendor, credentialsId }: FlowRecord): void {
  trace.vendor = vendor;
  if (clientId !== undefined) trace.clientId = clientId;
  if (credentialsId !== undefined) trace.credentialsId = credentialsId;
}

/** What a request says of its flow. */
export interface FlowReference {
  readonly state?: string | undefined;
  readonly requestUri?: string | undefined;
}

/**
 * Names the flow of a request that is refused before its flow is looked up, for the log and the
 * page. Nothing is decided by it, so a store that is down only leaves the flow without its names.
 *
 * @returns whether the request is of one of our flows, of any age
 */
export async function identifyFlow({ state = "", requestUri = "" }: FlowReference, engine: Leg): Promise<boolean> {
  const { deps, policy, trace } = engine;
  const handle = parseRequestUri(requestUri);
  const sent = await policy.state.identify(state).catch(() => undefined);
  const flowId = handle?.flowId ?? sent?.flowId;
  if (flowId === undefined) return false;
  trace.flowId = flowId;
  const record = await deps.records.get(keyOf(flowId, engine), { includeExpired: true }).catch(() => undefined);
  const flow = record === undefined ? undefined : policy.parse(record);
  if (flow === undefined) return false;
  const isIts = handle === undefined ? sent?.isOf(flow) === true : isSameText(flow.requestHash, handle.hash);
  if (isIts) nameFlow(trace, flow);
  return isIts;
}

/** @throws OAuthError invalid_request, after the flow was named */
export async function readParameters(sent: string, required: readonly string[], engine: Leg): Promise<Parameters> {
  try {
    const parameters = parseParameters(sent);
    for (const name of required) parameters.require(name);
    return parameters;
  } catch (error) {
    const lenient = new URLSearchParams(sent);
    const only = (name: string): string | undefined =>
      lenient.getAll(name).length === 1 ? (lenient.get(name) ?? "") : undefined;
    await identifyFlow({ state: only("state"), requestUri: only("request_uri") }, engine);
    throw error;
  }
}

/** The stage and fields that a record must have to be ended. */
export interface Endable {
  readonly flowId: string;
  readonly stage: Exclude<FlowStage, "redeemed" | "failed">;
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
