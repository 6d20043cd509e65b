/**
 * Sends the browser to the vendor, with a new record or with that of a pushed request, which is
 * used once. Creates state, PKCE #2 and nonce. Before it: pushed-flow.ts. After it: callback.ts.
 */
import { type BindingCookie, setBindingCookie } from "../authorization-server/browser-binding.ts";
import type { Handle } from "../authorization-server/handle.ts";
import { type Answer, redirectAnswer } from "../http/answers.ts";
import type { EpochSeconds, StoredRecord } from "../ports.ts";
import { defined } from "../mechanics/defined.ts";
import { requireMetDemands } from "../vendor-client/authorization/demands.ts";
import { keyOf, type Leg } from "./engine.ts";
import type { FlowVendor } from "./policy.ts";
import { expected, isUnusedOrSameBrowser } from "./pushed-flow.ts";
import { challengeFor } from "./secrets.ts";
import { FLOW_SECONDS, flowData, type FlowRecord } from "./record.ts";

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
  engine: Leg,
): Promise<Answer> {
  const { deps, policy } = engine;
  const { flowId } = request;
  requireMetDemands(vendor.vendor, vendor.credentials, request.flow.scope);
  const issuedAt = deps.now();
  const times = { issuedAt, expiresAt: issuedAt + FLOW_SECONDS };
  const state = policy.state.issue(flowId, request.flow, times);
  const started = { ...set, ...state.kept, cookieHash: cookie.hash, startedAt: issuedAt };
  const record = await writeStarted(request, started, times.expiresAt, cookie, engine);
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
  engine: Leg,
): Promise<StoredRecord> {
  const { deps, policy, trace } = engine;
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
