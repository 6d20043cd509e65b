/**
 * Our authorization request → the vendor's → its callback → our code → the vendor's tokens. A
 * broker and an MCP server with its own authorization server both run on this engine. An app adds
 * its policy (policy.ts) and its routes.
 */
import type { BindingCookie } from "../authorization-server/browser-binding.ts";
import type { EpochSeconds } from "../ports.ts";
import type { Parameters } from "../protocol/parameters.ts";
import { answerCallback, type CallbackRequest } from "./callback.ts";
import { type FlowReference, identifyFlow } from "./engine.ts";
import type { FlowDeps, FlowPolicy, FlowTrace, FlowVendor, Redeemed } from "./policy.ts";
import type { FlowRecord } from "./record.ts";
import { redeemCode, rememberSpent } from "./redeem.ts";
import {
  declinePushed,
  findPushed,
  type PushedFlow,
  type PushedRequest,
  pushFlow,
  startFlow,
  type StartRequest,
} from "./start.ts";

export { readVendorAnswer } from "./answer.ts";
export type { VendorAnswer, VendorRefusal } from "./answer.ts";
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
export { challengeFor, flowSecrets, HANDLE_STATE, isIdTokenDue } from "./secrets.ts";
export type { FlowKeys, FlowSecrets, FlowState, ReadState } from "./secrets.ts";
export type { PushedFlow } from "./start.ts";

/**
 * @param policy the app's decisions
 * @returns the legs, bound to one store, clock and issuer
 */
export function createBrokeredCode<Flow extends FlowRecord, Vendor extends FlowVendor>(
  deps: FlowDeps,
  policy: FlowPolicy<Flow, Vendor>,
) {
  // The legs use the fields of all flows, and return the app's own types unchanged.
  const engine = { deps, policy: policy as FlowPolicy<FlowRecord, FlowVendor> };
  return {
    /**
     * Stores a request until its browser comes.
     *
     * @param keepUntil how long the row stays readable for the operator
     */
    push: (flowId: string, flow: Omit<Flow, "requestHash">, keepUntil: EpochSeconds) =>
      pushFlow(flowId, flow as Flow, keepUntil, engine),
    /** @throws OAuthError for the 400 page */
    findPushed: (request: PushedRequest, cookieHeader: string | undefined, trace: FlowTrace) =>
      findPushed(request, cookieHeader, engine, trace) as Promise<PushedFlow<Flow>>,
    /**
     * Ends the flow when the user declines before the browser leaves.
     *
     * @throws OAuthError for the 400 page when the flow has moved on in the meantime
     */
    decline: (pushed: PushedFlow<Flow>, trace: FlowTrace) => declinePushed(pushed, engine, trace),
    /**
     * Resolves the vendor by the policy.
     *
     * @throws OAuthError when vendor, endpoints or credentials have changed since the flow began
     */
    vendorOf: policy.vendorOf,
    /**
     * Sends the browser to the vendor.
     *
     * @param set further fields for the record
     * @throws OAuthError for the 400 page
     */
    start: (
      request: StartRequest<Flow>,
      vendor: Vendor,
      cookie: BindingCookie,
      trace: FlowTrace,
      set: Partial<Flow> = {},
    ) => startFlow(request, vendor, cookie, set, engine, trace),
    /** Names the flow of a request that cannot be read, for the log and the page; never throws. */
    identify: (reference: FlowReference, trace: FlowTrace) => identifyFlow(reference, engine, trace),
    /** @throws OAuthError for the 400 page; the vendor's own errors become redirects to the client */
    callback: (request: CallbackRequest, trace: FlowTrace) => answerCallback(request, engine, trace),
    /** @throws OAuthError invalid_grant, invalid_request; otherwise the vendor's error, translated */
    redeem: (parameters: Parameters, clientId: string, trace: FlowTrace) =>
      redeemCode(parameters, clientId, engine, trace) as unknown as Promise<Redeemed<Flow, Vendor>>,
    /** Adds fields to the record of a redeemed code, for `policy.replayed`. Best effort. */
    remember: ({ flowId, flow }: Pick<Redeemed<Flow, Vendor>, "flowId" | "flow">, set: Partial<Flow>) =>
      rememberSpent(flowId, flow, set, engine),
  };
}

/** The legs of a flow, as an app calls them. */
export type BrokeredCode<Flow extends FlowRecord, Vendor extends FlowVendor> = ReturnType<
  typeof createBrokeredCode<Flow, Vendor>
>;
