/**
 * The vendor's redirect. Everything is verified before anything is stored or sent. Then the
 * vendor's code is parked under our code, which the client will send (redeem.ts), or the flow ends
 * here. Before it: start.ts.
 */
import { clearBindingCookie, readBindingCookie } from "../authorization-server/browser-binding.ts";
import { createHandle } from "../authorization-server/handle.ts";
import { type Answer, type ClientReturn, codeRedirect, errorRedirect } from "../http/answers.ts";
import { OAuthError, toOAuthError, withRestart } from "../protocol/errors.ts";
import { isSameText } from "../protocol/secret.ts";
import type { Parameters } from "../protocol/parameters.ts";
import { relayedError } from "../vendor-client/authorization/error.ts";
import { readVendorAnswer, type VendorAnswer, type VendorRefusal } from "./vendor-answer.ts";
import { parkCode, parkTokens, redeemAtVendor } from "./park.ts";
import { type Engine, failFlow, keyOf, type Leg, nameFlow, identifyFlow } from "./engine.ts";
import type { FlowRefusal, FlowVendor, Redeemed } from "./policy.ts";
import { flowData, type FlowRecord } from "./record.ts";

/** The redirect of a vendor, as a browser follows it. */
export interface CallbackRequest {
  readonly parameters: Parameters;
  readonly cookieHeader: string | undefined;
  /** Our path that the redirect came to. */
  readonly path: string;
}

interface StartedFlow {
  readonly flowId: string;
  readonly flow: FlowRecord;
  /** The fields that must be unchanged for a write. */
  readonly expect: Readonly<Record<string, string>>;
}

/** A flow that this browser started, with its vendor and the vendor's answer. */
interface OpenFlow extends StartedFlow {
  readonly vendor: FlowVendor;
  readonly answer: VendorAnswer | VendorRefusal;
  /** The redirect to the client; absent when the flow ends here. */
  readonly to: ClientReturn | undefined;
}

/** @throws OAuthError for the 400 page; the vendor's own errors become redirects to the client */
export async function answerCallback(request: CallbackRequest, engine: Leg): Promise<Answer> {
  // 1. our state and path, unanswered, this browser
  const started = await findStarted(request, engine);
  // 2. client and redirect URI are still configured
  const to = await returnOf(started, engine);
  const open = await burnOnRefusal(started, engine, async () => {
    // 3. same vendor, endpoints, credentials
    const vendor = await vendorOf(started, engine);
    if (vendor instanceof OAuthError) return vendor;
    // 4. iss, then one code or one error
    const answer = readAnswer(request.parameters, started, vendor, engine);
    return { ...started, to, vendor, answer };
  });
  if (open instanceof OAuthError) return endWithout(open, { ...started, to }, engine);
  const { answer } = open;
  // 5a. the error, to the client
  if ("error" in answer) {
    const { vendor, credentials } = open.vendor;
    return endWithout(relayedError(answer.error, request.parameters, vendor, credentials.source), open, engine);
  }
  // 5b. our code, to the client
  return endWith(answer, open, engine);
}

/** Refuses another browser before anything is changed, so that it cannot end a victim's flow. */
//= bar#CB-7
async function findStarted({ parameters, cookieHeader, path }: CallbackRequest, engine: Leg): Promise<StartedFlow> {
  const { records, issuer, now } = engine.deps;
  const { policy, trace } = engine;
  //= bar#CB-1
  const value = parameters.get("state");
  if (value === undefined) throw policy.refuse(trace, "state_missing");
  const state = await policy.state.read(value);
  if (state === undefined) {
    const isLate = await identifyFlow({ state: value }, engine);
    throw policy.refuse(trace, isLate ? "state_expired" : "state_invalid");
  }
  const { flowId } = state;
  trace.flowId = flowId;
  // Expired records too, so that the page can link back to their client.
  const record = await records.get(keyOf(flowId, engine), { includeExpired: true });
  const flow = record === undefined ? undefined : policy.parse(record);
  if (record === undefined || flow === undefined) throw policy.refuse(trace, "flow_unknown");
  if (!state.isOf(flow)) throw policy.refuse(trace, "state_invalid");
  nameFlow(trace, flow);
  //= bar#XA-1
  //= bar#XA-4
  if (flow.path !== path) throw policy.refuse(trace, "path_mismatch");
  if (record.expiresAt <= now() && record.stage === "started") throw policy.refuse(trace, "state_expired");
  //= bar#CB-3
  if (record.stage !== "started") throw policy.refuse(trace, "state_replayed");
  const cookie = readBindingCookie(cookieHeader, issuer, flowId);
  const isSameBrowser = isSameText(cookie?.hash, flow.cookieHash);
  //= bar#CB-7
  //= bar#XA-6
  if (policy.bindsBrowser(flow) && !isSameBrowser) throw policy.refuse(trace, "browser_mismatch");
  return { flowId, flow, expect: { cookieHash: flow.cookieHash ?? "" } };
}

async function returnOf(
  { flowId, flow }: StartedFlow,
  { deps: { issuer }, policy, trace }: Leg,
): Promise<ClientReturn | undefined> {
  if (flow.purpose !== "client") return undefined;
  const redirect = await policy.redirectOf(flow);
  if (redirect === undefined) throw policy.refuse(trace, "client_unknown");
  return { redirect, state: flow.state, issuer, flowId };
}

/**
 * @returns the error when the vendor or its credentials are no longer there, which is reported to
 *   the client; refusals and outages are thrown
 */
//= bar#XA-5
async function vendorOf({ flowId, flow }: StartedFlow, { policy, trace }: Leg): Promise<FlowVendor | OAuthError> {
  return policy.vendorOf({ leg: "callback", flowId, flow }, trace).catch((error: unknown) => {
    const known = toOAuthError(error);
    if (known.status === 400 && !PAGES.has(known.extras.reason)) return known;
    throw known;
  });
}

/** Refusals of a policy that are shown as a page, without a redirect. */
const PAGES: ReadonlySet<string | undefined> = new Set<FlowRefusal>(["client_unknown", "context_mismatch"]);

async function endWithout(
  error: OAuthError,
  started: Pick<OpenFlow, "flowId" | "flow" | "expect" | "to">,
  engine: Leg,
): Promise<Answer> {
  if (!(await fail("started", started, error.code, engine))) throw engine.policy.refuse(engine.trace, "state_replayed");
  return refuseToClient(error, started, engine);
}

function readAnswer(
  parameters: Parameters,
  { flow }: StartedFlow,
  { vendor }: FlowVendor,
  { policy, trace }: Leg,
): VendorAnswer | VendorRefusal {
  try {
    return readVendorAnswer(parameters, vendor, flow);
  } catch (error) {
    const { reason } = toOAuthError(error).extras;
    const isOfIssuer = reason === "missing_issuer" || reason === "issuer_mismatch";
    throw policy.refuse(trace, isOfIssuer ? reason : "malformed_response", error);
  }
}

/** Failures that say nothing about the answer, which can be tried again. */
const OUTAGES: ReadonlySet<string> = new Set(["temporarily_unavailable", "vendor_response_invalid", "server_error"]);

/** A refused answer ends the flow, so that its sender has no second try. */
async function burnOnRefusal<Result>(
  started: StartedFlow,
  engine: Leg,
  checks: () => Promise<Result>,
): Promise<Result> {
  try {
    return await checks();
  } catch (error) {
    const known = toOAuthError(error);
    //= bar#CB-9
    if (!OUTAGES.has(known.code)) await fail("started", started, known.extras.reason ?? known.code, engine);
    engine.trace.reason ??= known.code;
    throw known;
  }
}

/** @returns false when another answer was faster */
async function fail(
  stage: "started" | "redeeming",
  { flowId, expect }: StartedFlow,
  reason: string,
  engine: Engine,
): Promise<boolean> {
  return failFlow({ flowId, stage, expect }, { leg: "callback", reason }, engine);
}

/** @throws the error itself when no client is known to redirect to; the app shows it as a page */
function refuseToClient(
  error: OAuthError,
  { flowId, to }: Pick<OpenFlow, "flowId" | "to">,
  { deps: { issuer }, trace }: Leg,
): Answer {
  if (to === undefined) throw error;
  const answer = errorRedirect(error, to, trace);
  return { ...answer, headers: { ...answer.headers, ...clearBindingCookie(issuer, flowId) } };
}

async function endWith(answer: VendorAnswer, open: OpenFlow, engine: Leg): Promise<Answer> {
  const { flowId, vendor, to } = open;
  if (to !== undefined && vendor.vendor.redeemAt !== "callback") {
    const code = createHandle(flowId);
    await parkCode({ ...open, answer, code }, engine);
    return codeRedirect(code.value, to, clearBindingCookie(engine.deps.issuer, flowId));
  }
  await spendState(open, engine);
  try {
    const tokens = await redeemAtVendor({ ...open, answer }, engine.policy);
    const redeemed = { ...open, tokens, callbackData: answer.callbackData };
    if (to === undefined) return await finishHere(redeemed, engine);
    const code = createHandle(flowId);
    await parkTokens({ ...open, answer, code, tokens }, engine);
    return codeRedirect(code.value, to, clearBindingCookie(engine.deps.issuer, flowId));
  } catch (error) {
    const known = withRestart(toOAuthError(error));
    await fail("redeeming", open, known.code, engine).catch(() => false);
    return refuseToClient(known, open, engine);
  }
}

/**
 * Spends the state before the vendor's code is sent. A crash in between loses the flow but never
 * uses the code twice.
 */
//= bar#CB-17
async function spendState({ flowId, expect }: OpenFlow, engine: Leg): Promise<void> {
  const redeeming = { stage: "redeeming", set: {} };
  const spent = await engine.deps.records.advance(keyOf(flowId, engine), { stage: "started", expect }, redeeming);
  if (spent.outcome !== "moved") throw engine.policy.refuse(engine.trace, "state_replayed");
}

async function finishHere(redeemed: OpenFlow & Redeemed<FlowRecord, FlowVendor>, engine: Leg): Promise<Answer> {
  const { records, now, issuer } = engine.deps;
  const { policy, trace } = engine;
  const { flowId, expect } = redeemed;
  if (policy.finishAtCallback === undefined)
    throw new OAuthError("server_error", "Flows end at the token endpoint here");
  const answer = await policy.finishAtCallback(redeemed, trace);
  const spent = { stage: "spent", set: flowData({ spentAt: now() }), remove: policy.forgotten.atEnd };
  await records.advance(keyOf(flowId, engine), { stage: "redeeming", expect }, spent).catch(() => undefined);
  return { ...answer, headers: { ...answer.headers, ...clearBindingCookie(issuer, flowId) } };
}
