/**
 * Our authorization request → the vendor's → its callback → our code → the vendor's tokens. A
 * broker and an MCP server with its own authorization server both run on this engine. An app adds
 * its policy (policy.ts) and its routes.
 */
import type { BindingCookie } from "../authorization-server/browser-binding.ts";
import type { Answer } from "../http/answers.ts";
import type { EpochSeconds } from "../ports.ts";
import type { Parameters } from "../protocol/parameters.ts";
import { answerCallback, type CallbackRequest } from "./callback.ts";
import { type FlowReference, identifyFlow, type Leg, readParameters } from "./engine.ts";
import type { FlowDeps, FlowPolicy, FlowTrace, FlowVendor, Redeemed, VendorLookup } from "./policy.ts";
import type { FlowRecord } from "./record.ts";
import { redeemCode, rememberSpent } from "./redeem.ts";
import { declinePushed, findPushed, type PushedFlow, pushFlow } from "./pushed-flow.ts";
import { startFlow, type StartRequest } from "./start.ts";

export type { CallbackRequest } from "./callback.ts";
export { readVendorAnswer } from "./vendor-answer.ts";
export type { VendorAnswer, VendorRefusal } from "./vendor-answer.ts";
export type {
  FlowDeps,
  FlowPolicy,
  FlowRefusal,
  FlowTrace,
  FlowVendor,
  Parked,
  Redeemed,
  VendorLookup,
} from "./policy.ts";
export type { FlowRecord } from "./record.ts";
export { challengeFor, flowSecrets, HANDLE_STATE } from "./secrets.ts";
export { isIdTokenDue } from "../vendor-client/issuer.ts";
export type { FlowKeys, FlowSecrets, FlowState, ReadState } from "./secrets.ts";
export type { PushedFlow } from "./pushed-flow.ts";

/** The legs of a flow, as an app calls them. */
export interface BrokeredCode<Flow extends FlowRecord, Vendor extends FlowVendor> {
  /**
   * Stores a request until its browser comes.
   *
   * @param keepUntil how long the row stays readable for the operator
   */
  push(
    flowId: string,
    flow: Omit<Flow, "requestHash">,
    keepUntil: EpochSeconds,
  ): Promise<{ readonly requestUri: string; readonly lifetimeSeconds: number }>;
  /** @throws OAuthError for the 400 page */
  findPushed(
    request: { readonly requestUri: string; readonly clientId: string },
    cookieHeader: string | undefined,
    trace: FlowTrace,
  ): Promise<PushedFlow<Flow>>;
  /**
   * Ends the flow when the user declines before the browser leaves.
   *
   * @throws OAuthError for the 400 page when the flow has moved on in the meantime
   */
  decline(pushed: PushedFlow<Flow>, trace: FlowTrace): Promise<void>;
  /**
   * Resolves the vendor by the policy.
   *
   * @throws OAuthError when vendor, endpoints or credentials have changed since the flow began
   */
  vendorOf(lookup: VendorLookup<Flow>, trace: FlowTrace): Promise<Vendor>;
  /**
   * Sends the browser to the vendor.
   *
   * @param set further fields for the record
   * @throws OAuthError for the 400 page
   */
  start(
    request: StartRequest<Flow>,
    vendor: Vendor,
    cookie: BindingCookie,
    trace: FlowTrace,
    set?: Partial<Flow>,
  ): Promise<Answer>;
  /**
   * The parameters of a browser's request. Those that cannot be read, or lack one, still name their
   * flow on the page and in the log: the vendor or the client sent them, and the user has to find the
   * way back.
   *
   * @param sent a query without `?`, or a form
   * @param required names that it has to have
   * @throws OAuthError invalid_request
   */
  read(sent: string, required: readonly string[], trace: FlowTrace): Promise<Parameters>;
  /** Names the flow of a request that is refused, for the log and the page; never throws. */
  identify(reference: FlowReference, trace: FlowTrace): Promise<unknown>;
  /** @throws OAuthError for the 400 page; the vendor's own errors become redirects to the client */
  callback(request: CallbackRequest, trace: FlowTrace): Promise<Answer>;
  /** @throws OAuthError invalid_grant, invalid_request; otherwise the vendor's error, translated */
  redeem(parameters: Parameters, clientId: string, trace: FlowTrace): Promise<Redeemed<Flow, Vendor>>;
  /** Adds fields to the record of a redeemed code, for `policy.replayed`. Best effort. */
  remember(redeemed: Pick<Redeemed<Flow, Vendor>, "flowId" | "flow">, set: Partial<Flow>): Promise<void>;
}

/**
 * @param policy the app's decisions
 * @returns the legs, bound to one store, clock and issuer
 */
export function createBrokeredCode<Flow extends FlowRecord, Vendor extends FlowVendor>(
  deps: FlowDeps,
  policy: FlowPolicy<Flow, Vendor>,
): BrokeredCode<Flow, Vendor> {
  // The legs use the fields of all flows, and return the app's own types unchanged.
  const engine = { deps, policy: policy as FlowPolicy<FlowRecord, FlowVendor> };
  const at = (trace: FlowTrace): Leg => ({ ...engine, trace });
  return {
    push: (flowId, flow, keepUntil) => pushFlow(flowId, flow as Flow, keepUntil, engine),
    findPushed: (request, cookieHeader, trace) =>
      findPushed(request, cookieHeader, at(trace)) as Promise<PushedFlow<Flow>>,
    decline: (pushed, trace) => declinePushed(pushed, at(trace)),
    vendorOf: (lookup, trace) => policy.vendorOf(lookup, trace),
    start: (request, vendor, cookie, trace, set = {}) => startFlow(request, vendor, cookie, set, at(trace)),
    read: (sent, required, trace) => readParameters(sent, required, at(trace)),
    identify: (reference, trace) => identifyFlow(reference, at(trace)),
    callback: (request, trace) => answerCallback(request, at(trace)),
    redeem: (parameters, clientId, trace) =>
      redeemCode(parameters, clientId, at(trace)) as unknown as Promise<Redeemed<Flow, Vendor>>,
    remember: ({ flowId, flow }, set) => rememberSpent(flowId, flow, set, engine),
  };
}
