/**
 * Leg 3, GET /v1/callback: the vendor sends the browser back. Everything is verified before anything is stored or sent;
 * the vendor's code is parked, sealed under a code of ours that only the platform's backend will present.
 * Before it: open-vendor.ts. After it: redeem-broker-code.ts.
 */
import {
  clearBindingCookie,
  createHandle,
  isSameText,
  type Parameters,
  readBindingCookie,
  relayedError,
  requireIssuer,
  type StateClaims,
  toOAuthError,
  type VerifiedRedirect,
  verifyRedirectUri,
  withRestart,
} from "@oauth-broker/oauth-core";
import { type Answer, type ClientReturn, codeRedirect, errorRedirect } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { requireArrivalPath } from "./callback-path.ts";
import { asData, asFlow, type Flow, flowKey, FORGOTTEN_AT_END } from "./flow-record.ts";
import { codeLifetimeSeconds, parkVendorCode, parkVendorTokens } from "./parking.ts";
import { refusePage } from "./refusal.ts";
import { rechooseVendor, type VendorChoice } from "./vendor-choice.ts";
import { openVendorSecret } from "./vendor-secret.ts";

export interface CallbackRequest {
  readonly parameters: Parameters;
  readonly cookieHeader: string | undefined;
  /** Of `/v1/custom/{context}/callback`; absent where the answer came to the callback itself. */
  readonly context?: string;
}

/** A live flow, started in this very browser, and everything needed to end it. */
interface OpenFlow {
  readonly flowId: string;
  readonly flow: Flow;
  /** What the record must still hold for us to move it. */
  readonly expect: Readonly<Record<string, string>>;
  readonly redirect: VerifiedRedirect;
  readonly choice: VendorChoice;
}

/** @throws OAuthError for the 400 page; the vendor's own errors become redirects to the client */
export async function finishCallback(request: CallbackRequest, deps: Deps, trace: Trace): Promise<Answer> {
  const claims = await verifyState(request.parameters, deps, trace); //            1  ours, in time, for this endpoint
  const { flow, expect } = await findStartedFlow(claims, request, deps, trace); // 2  live, unused, this browser's
  const open = await burnOnRefusal(claims.jti, expect, deps, trace, async () => {
    const found = await reopen(claims, flow, expect, deps, trace); //              3  same client, vendor, endpoints
    requireVendorIssuer(found, request.parameters, trace); //                      4  iss, before anything else is believed
    requireOneOutcome(request.parameters, found.choice, trace); //                 5  exactly one code or one error
    return found;
  });
  const to = { redirect: open.redirect, state: flow.state, issuer: deps.issuer, flowId: open.flowId };
  const vendorError = request.parameters.get("error");
  if (vendorError !== undefined) return relayError(vendorError, request.parameters, open, to, deps, trace); // 6a
  return parkAndReturn(request.parameters, open, to, deps, trace); //                      6b
}

//= bar#CB-1
async function verifyState(parameters: Parameters, { state }: Pick<Deps, "state">, trace: Trace): Promise<StateClaims> {
  const value = parameters.get("state");
  if (value === undefined) throw refusePage(trace, "state_missing");
  const claims = await state.verify(value).catch((error: unknown) => {
    const known = toOAuthError(error);
    throw known.code === "invalid_request" ? refusePage(trace, "state_invalid", known) : known;
  });
  trace.flowId = claims.jti;
  return claims;
}

/** A foreign browser is turned away before it can change anything, so it cannot burn a victim's flow. */
//= bar#CB-7
async function findStartedFlow(
  claims: StateClaims,
  { cookieHeader, context }: CallbackRequest,
  { records, issuer, now }: Pick<Deps, "records" | "issuer" | "now">,
  trace: Trace,
): Promise<{ flow: Flow; expect: Record<string, string> }> {
  // The expired ones too: the page can then lead back to the client they belonged to.
  const record = await records.get(flowKey(claims.jti), { includeExpired: true });
  if (record === undefined) throw refusePage(trace, "flow_unknown");
  const flow = asFlow(record);
  trace.clientId = flow.clientId;
  trace.vendor = flow.vendor;
  requireArrivalPath(flow, context, trace);
  if (record.expiresAt <= now() && record.stage === "started") throw refusePage(trace, "flow_unknown");
  const cookie = readBindingCookie(cookieHeader, issuer, claims.jti);
  const isForeign = flow.binding === "browser" && !isSameText(cookie?.hash, flow.cookieHash);
  //= bar#CB-3
  if (record.stage !== "started") throw refusePage(trace, "state_replayed");
  if (isForeign) throw refusePage(trace, "browser_mismatch");
  return { flow, expect: flow.binding === "browser" ? { cookieHash: flow.cookieHash ?? "" } : { binding: "platform" } };
}

async function reopen(
  claims: StateClaims,
  flow: Flow,
  expect: Readonly<Record<string, string>>,
  deps: Deps,
  trace: Trace,
): Promise<OpenFlow> {
  const client = await deps.clients.find(flow.clientId);
  if (client === undefined) throw refusePage(trace, "client_unknown");
  const redirect = verifyRedirectUri(flow.redirectUri, client.redirectUris);
  const vendorSecret = await openVendorSecret(claims.jti, flow, deps);
  const choice = await rechooseVendor(flow, client, vendorSecret, deps);
  trace.credentialsId = choice.credentials.id;
  //= bar#XA-5
  if (claims.contextHash !== flow.contextHash || choice.contextHash !== flow.contextHash) {
    throw refusePage(trace, "context_mismatch");
  }
  return { flowId: claims.jti, flow, expect, redirect, choice };
}

//= bar#CB-16
function requireVendorIssuer({ flow, choice: { vendor } }: OpenFlow, parameters: Parameters, trace: Trace): void {
  try {
    requireIssuer({ ...vendor, issExpected: vendor.issExpected || flow.issExpected }, parameters.sent("iss"));
  } catch (error) {
    const isMissing = toOAuthError(error).extras.reason === "missing_issuer";
    throw refusePage(trace, isMissing ? "missing_issuer" : "issuer_mismatch", error);
  }
}

/** Front-channel tokens and profile data are never read, and their presence is no accident. */
const NEVER_IN_A_CODE_RESPONSE = ["access_token", "id_token", "profile", "user"];
const MAX_CODE_LENGTH = 4096;

//= bar#CB-11
function requireOneOutcome(parameters: Parameters, { vendor }: VendorChoice, trace: Trace): void {
  const code = parameters.get("code");
  const smuggled = NEVER_IN_A_CODE_RESPONSE.some(
    (name) => parameters.has(name) && !vendor.callbackParams.includes(name),
  );
  const isOneOutcome = (code === undefined) !== (parameters.get("error") === undefined);
  if (smuggled || !isOneOutcome || (code?.length ?? 0) > MAX_CODE_LENGTH) throw refusePage(trace, "malformed_response");
}

/** Not this flow's doing: the same answer may be tried again. */
const OUTAGES: ReadonlySet<string> = new Set(["temporarily_unavailable", "vendor_response_invalid", "server_error"]);

/** A refusal after the browser is known ends the flow: whatever sent this answer, it must not get a second try. */
async function burnOnRefusal<T>(
  flowId: string,
  expect: Readonly<Record<string, string>>,
  deps: Deps,
  trace: Trace,
  checks: () => Promise<T>,
): Promise<T> {
  try {
    return await checks();
  } catch (error) {
    const known = toOAuthError(error);
    const isOutage = OUTAGES.has(known.code);
    if (!isOutage) await fail("started", flowId, expect, known.extras.reason ?? known.code, deps);
    trace.reason ??= known.code;
    throw known;
  }
}

async function fail(
  stage: "started" | "redeeming",
  flowId: string,
  expect: Readonly<Record<string, string>>,
  reason: string,
  { records, now }: Pick<Deps, "records" | "now">,
): Promise<boolean> {
  const failed = { at: now(), leg: "callback", reason } as const;
  const { outcome } = await records.advance(
    flowKey(flowId),
    { stage, expect },
    { stage: "failed", set: asData({ failed }), remove: FORGOTTEN_AT_END },
  );
  return outcome === "moved";
}

async function relayError(
  vendorError: string,
  parameters: Parameters,
  open: OpenFlow,
  to: ClientReturn,
  deps: Deps,
  trace: Trace,
): Promise<Answer> {
  const error = relayedError(vendorError, parameters, open.choice.vendor, open.flow.credentialsSource);
  if (!(await fail("started", open.flowId, open.expect, error.code, deps))) throw refusePage(trace, "state_replayed");
  trace.failure = error;
  return withClearedCookie(errorRedirect(error, to), open.flowId, deps);
}

async function parkAndReturn(
  parameters: Parameters,
  open: OpenFlow,
  to: ClientReturn,
  deps: Deps,
  trace: Trace,
): Promise<Answer> {
  const code = createHandle(open.flowId);
  const answer = {
    code: parameters.require("code"),
    iss: parameters.get("iss"),
    callbackData: callbackData(parameters, open),
  };
  const { vendor } = open.choice;
  if (vendor.redeemAt === "callback") {
    try {
      await parkVendorTokens({ ...open, answer, code }, deps, trace);
    } catch (error) {
      const known = toOAuthError(error);
      if (known.extras.reason === "state_replayed") throw known;
      await fail("redeeming", open.flowId, open.expect, known.code, deps).catch(() => false);
      // The state is spent, whatever the vendor saw.
      trace.failure = known;
      return withClearedCookie(errorRedirect(withRestart(known), to), open.flowId, deps);
    }
  } else {
    await parkVendorCode({ ...open, answer, code, lifetimeSeconds: codeLifetimeSeconds(vendor) }, deps, trace);
  }
  return codeRedirect(code.value, to, clearBindingCookie(deps.issuer, open.flowId));
}

/** Only what the vendor's entry declares is handed on. */
function callbackData(parameters: Parameters, { choice }: OpenFlow): Record<string, string> {
  const data: Record<string, string> = {};
  for (const name of choice.vendor.callbackParams) {
    const value = parameters.get(name);
    if (value !== undefined) data[name] = value;
  }
  return data;
}

function withClearedCookie(answer: Answer, flowId: string, { issuer }: Pick<Deps, "issuer">): Answer {
  return { ...answer, headers: { ...answer.headers, ...clearBindingCookie(issuer, flowId) } };
}
