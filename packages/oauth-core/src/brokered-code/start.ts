/**
 * Sends the browser to the vendor, with a new record or with that of a pushed request, which is
 * used once. Creates state, PKCE #2 and nonce. After it: callback.ts.
 */
import { type BindingCookie, readBindingCookie, setBindingCookie } from "../authorization-server/browser-binding.ts";
import type { Handle } from "../authorization-server/handle.ts";
import { createRequestUri, parseRequestUri } from "../authorization-server/pushed-request.ts";
import { type Answer, redirectAnswer } from "../http/answers.ts";
import type { EpochSeconds, StoredRecord } from "../ports.ts";
import { defined } from "../mechanics/defined.ts";
import { isSameText } from "../protocol/mac.ts";
import { requireMetDemands } from "../vendor-client/authorization/demands.ts";
import { type Engine, failFlow, keyOf, nameFlow } from "./engine.ts";
import type { FlowTrace, FlowVendor } from "./policy.ts";
import { challengeFor } from "./secrets.ts";
import { FLOW_SECONDS, flowData, type FlowRecord, REQUEST_URI_SECONDS } from "./record.ts";

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
  engine: Engine,
  trace: FlowTrace,
): Promise<PushedFlow> {
  const { deps, policy } = engine;
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
export async function declinePushed({ handle, flow }: PushedFlow, engine: Engine, trace: FlowTrace): Promise<void> {
  const pushed = { flowId: handle.flowId, stage: "pushed", expect: expected(handle, flow) } as const;
  const isDeclined = await failFlow(pushed, { leg: "authorize", reason: "access_denied" }, engine);
  if (!isDeclined) throw engine.policy.refuse(trace, "request_uri_used");
}

/** The fields that must be unchanged for a write to a pushed record. */
function expected({ hash }: Handle, { clientId }: FlowRecord): Record<string, string> {
  return { requestHash: hash, ...defined({ clientId }) };
}

/**
 * The browser that started the flow can repeat the redirect (back, reload). For all other browsers
 * the request_uri is spent.
 */
function isUnusedOrSameBrowser(
  { stage }: StoredRecord,
  flow: FlowRecord | undefined,
  cookie: BindingCookie | undefined,
): boolean {
  return stage === "pushed" || (stage === "started" && isSameText(flow?.cookieHash, cookie?.hash));
}

export interface StartRequest<Flow = FlowRecord> {
  readonly flowId: string;
  readonly flow: Flow;
  /** The handle of the request_uri; absent for a new record. */
  readonly handle?: Handle;
}

/**
 * @param set further fields for the record
 * @returns the redirect to the vendor, with the cookie that binds the flow to this browser
 * @throws OAuthError for the 400 page when the request_uri is used; temporarily_unavailable
 */
export async function startFlow(
  request: StartRequest,
  vendor: FlowVendor,
  cookie: BindingCookie,
  set: Partial<FlowRecord>,
  engine: Engine,
  trace: FlowTrace,
): Promise<Answer> {
  const { deps, policy } = engine;
  const { flowId } = request;
  requireMetDemands(vendor.vendor, vendor.credentials, request.flow.scope);
  const issuedAt = deps.now();
  const times = { issuedAt, expiresAt: issuedAt + FLOW_SECONDS };
  const state = policy.state.issue(flowId, request.flow, times);
  const started = { ...set, ...state.kept, cookieHash: cookie.hash, startedAt: issuedAt };
  const record = await writeStarted(request, started, times.expiresAt, cookie, engine, trace);
  const flow = policy.parse(record) ?? request.flow;
  // A reload gets the first state again, so that both tabs are in the same flow.
  const isReload = flow.startedAt !== issuedAt;
  const { value } = isReload
    ? policy.state.issue(flowId, flow, { issuedAt: flow.startedAt ?? 0, expiresAt: record.expiresAt })
    : state;
  const { codeVerifier, nonce } = await policy.secrets(flowId, flow, vendor.vendor);
  const url = vendor.vendorClient.authorizationUrl(vendor.vendor, {
    clientId: vendor.credentials.clientId,
    redirectUri: vendor.redirectUri,
    state: value,
    scope: flow.scope,
    ...defined({ codeChallenge: challengeFor(vendor.vendor, codeVerifier), nonce }),
    ...defined({ loginHint: flow.loginHint, prompt: flow.prompt, resource: flow.resource, extra: flow.vendorParams }),
  });
  return redirectAnswer(url, setBindingCookie(deps.issuer, flowId, cookie.value));
}

async function writeStarted(
  { flowId, flow, handle }: StartRequest,
  started: object,
  expiresAt: EpochSeconds,
  cookie: BindingCookie,
  engine: Engine,
  trace: FlowTrace,
): Promise<StoredRecord> {
  const { deps, policy } = engine;
  const key = keyOf(flowId, engine);
  if (handle === undefined) {
    const data = flowData({ ...flow, ...started });
    await deps.records.create({ key, stage: "started", data, expiresAt });
    return { key, stage: "started", data, expiresAt, keepUntil: expiresAt };
  }
  const advanced = await deps.records.advance(
    key,
    { stage: "pushed", expect: expected(handle, flow) },
    { stage: "started", set: flowData(started), expiresAt },
  );
  if (advanced.outcome === "moved") return advanced.record;
  if (advanced.outcome === "absent") throw policy.refuse(trace, "request_uri_unknown");
  if (isUnusedOrSameBrowser(advanced.record, policy.parse(advanced.record), cookie)) return advanced.record;
  throw policy.refuse(trace, "request_uri_used");
}
