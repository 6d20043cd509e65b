/**
 * A pushed request (RFC 9126) waits for its browser: stored under a request_uri, found by it once,
 * and ended if the user declines. After it: start.ts.
 */
import { type BindingCookie, readBindingCookie } from "../authorization-server/browser-binding.ts";
import type { Handle } from "../authorization-server/handle.ts";
import { createRequestUri, parseRequestUri } from "../authorization-server/pushed-request.ts";
import type { EpochSeconds, StoredRecord } from "../ports.ts";
import { defined } from "../mechanics/defined.ts";
import { isSameText } from "../protocol/secret.ts";
import { type Engine, failFlow, keyOf, type Leg, nameFlow } from "./engine.ts";
import { flowData, type FlowRecord, REQUEST_URI_SECONDS } from "./record.ts";

/** A flow that waits for the browser with its request_uri. */
export interface PushedFlow<Flow = FlowRecord> {
  readonly handle: Handle;
  readonly stage: string;
  readonly flow: Flow;
  /** The cookie of this flow; absent when the browser sent none. */
  readonly cookie: BindingCookie | undefined;
}

/** @param keepUntil how long the row stays readable for the operator */
//= rfc9126#2.2
export async function pushFlow(
  flowId: string,
  flow: FlowRecord,
  keepUntil: EpochSeconds,
  engine: Engine,
): Promise<{ readonly requestUri: string; readonly lifetimeSeconds: number }> {
  const { records, now } = engine.deps;
  const { requestUri, hash } = createRequestUri(flowId);
  await records.create({
    key: keyOf(flowId, engine),
    stage: "pushed",
    expiresAt: now() + REQUEST_URI_SECONDS,
    keepUntil,
    data: flowData({ ...flow, requestHash: hash }),
  });
  return { requestUri, lifetimeSeconds: REQUEST_URI_SECONDS };
}

/**
 * @throws OAuthError for the 400 page, when the request_uri is unknown, of another client, or used
 *   by another browser
 */
export async function findPushed(
  { requestUri, clientId }: { readonly requestUri: string; readonly clientId: string },
  cookieHeader: string | undefined,
  engine: Leg,
): Promise<PushedFlow> {
  const { deps, policy, trace } = engine;
  const handle = parseRequestUri(requestUri);
  if (handle === undefined) throw policy.refuse(trace, "request_uri_unknown");
  trace.flowId = handle.flowId;
  // Expired records too, so that the page can link back to their client.
  const record = await deps.records.get(keyOf(handle.flowId, engine), { includeExpired: true });
  const flow = record === undefined ? undefined : policy.parse(record);
  if (
    record === undefined ||
    flow === undefined ||
    !isSameText(flow.requestHash, handle.hash) ||
    flow.clientId !== clientId
  ) {
    throw policy.refuse(trace, "request_uri_unknown");
  }
  nameFlow(trace, flow);
  if (record.expiresAt <= deps.now()) throw policy.refuse(trace, "request_uri_unknown");
  const cookie = readBindingCookie(cookieHeader, deps.issuer, handle.flowId);
  if (!isUnusedOrSameBrowser(record, flow, cookie)) throw policy.refuse(trace, "request_uri_used");
  return { handle, stage: record.stage, flow, cookie };
}

/**
 * Ends the flow when the user declines before the browser leaves.
 *
 * @throws OAuthError for the 400 page when the flow has moved on in the meantime
 */
export async function declinePushed({ handle, flow }: PushedFlow, engine: Leg): Promise<void> {
  const pushed = { flowId: handle.flowId, stage: "pushed", expect: expected(handle, flow) } as const;
  const isDeclined = await failFlow(pushed, { leg: "authorize", reason: "access_denied" }, engine);
  if (!isDeclined) throw engine.policy.refuse(engine.trace, "request_uri_used");
}

/** The fields that must be unchanged for a write to a pushed record. */
export function expected({ hash }: Handle, { clientId }: FlowRecord): Record<string, string> {
  return { requestHash: hash, ...defined({ clientId }) };
}

/**
 * The browser that started the flow can repeat the redirect (back, reload). For all other browsers
 * the request_uri is spent.
 */
export function isUnusedOrSameBrowser(
  { stage }: StoredRecord,
  flow: FlowRecord | undefined,
  cookie: BindingCookie | undefined,
): boolean {
  return stage === "pushed" || (stage === "started" && isSameText(flow?.cookieHash, cookie?.hash));
}
