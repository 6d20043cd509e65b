/**
 * Leg 2, /v1/authorize. GET: the user's browser sends the request_uri and is redirected to the
 * vendor. When clients of several owners share the vendor's credentials, it is first shown a page
 * that names the client and its owner. POST: the user's decision on that page. The request_uri is
 * spent when the browser leaves, not when the page is shown, so that a reload, a second tab or a
 * link preview costs nothing. Before it: par.ts. After it: the vendor sends the browser to the
 * callback.
 */
import { OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import {
  type BindingCookie,
  clearBindingCookie,
  createBindingCookie,
  formToken,
  isFormToken,
  setBindingCookie,
  verifyRedirectUri,
} from "@oauth-broker/oauth-core/authorization-server";
import { type Answer, type ClientReturn, errorRedirect } from "@oauth-broker/oauth-core/http";
import type { Trace } from "@oauth-broker/service/http";
import type { Deps } from "../deps.ts";
import { ownerPage } from "../pages/owner-page.ts";
import type { VendorChoice } from "../vendor-choice/choose.ts";
import { needsOwnerPage } from "../vendor-choice/registrations.ts";
import type { Flow } from "./flow-record.ts";
import type { LegDeps } from "./policy.ts";
import { refusePage } from "./refusal.ts";

/**
 * A browser with a request_uri that belongs to this client, is unexpired, and may still be used by
 * this browser.
 */
type PendingRequest = Awaited<ReturnType<typeof findPending>>;

/**
 * @throws OAuthError for the 400 page until client and request_uri are known; afterwards failures
 *   are redirects
 */
export async function authorize(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: LegDeps,
  trace: Trace,
): Promise<Answer> {
  // 1. unused and this client's, or a reload in this browser
  const pending = await findPending(parameters, cookieHeader, deps, trace);
  const cookie = pending.cookie ?? createBindingCookie();
  // 2. from here failures go to the client
  const choice = await chooseAgain(pending, deps, trace);
  if (choice instanceof OAuthError) return errorRedirect(choice, pending.to, trace);
  if (pending.stage === "pushed" && needsOwnerPage(choice, pending.client, deps.registrations)) {
    // 3. spends nothing
    return askUser(pending, choice, cookie, parameters, deps);
  }
  // 4. spends the request_uri
  return redirectToVendor(pending, choice, { cookie }, deps, trace);
}

/** @throws OAuthError for the 400 page; changes nothing, so that a stranger cannot burn the flow */
export async function takeDecision(
  form: Parameters,
  cookieHeader: string | undefined,
  deps: LegDeps,
  trace: Trace,
): Promise<Answer> {
  // 1. this client's, and not a reload from another browser; a second click is led to the vendor too
  const pending = await findPending(form, cookieHeader, deps, trace);
  // 2. the vendor as pushed; a failure waits
  const choice = await chooseAgain(pending, deps, trace);
  const isAsked = choice instanceof OAuthError || needsOwnerPage(choice, pending.client, deps.registrations);
  if (!isAsked) throw refusePage(trace, "page_not_needed");
  // 3. the page was shown to this browser
  const cookie = requireShownHere(form, pending, trace);
  if (readDecision(form, trace) === "deny") return deny(pending, deps, trace);
  if (choice instanceof OAuthError) return errorRedirect(choice, pending.to, trace);
  // 4. only this browser comes back
  return redirectToVendor(pending, choice, { cookie, binding: "browser" }, deps, trace);
}

async function findPending(
  parameters: Parameters,
  cookieHeader: string | undefined,
  { flows, clients, issuer }: Pick<LegDeps, "flows" | "clients" | "issuer">,
  trace: Trace,
) {
  const request = { requestUri: parameters.require("request_uri"), clientId: parameters.require("client_id") };
  const pushed = await flows.findPushed(request, cookieHeader, trace);
  const { flow, handle } = pushed;
  const client = await clients.find(flow.clientId);
  if (client === undefined) throw refusePage(trace, "client_unknown");
  const redirect = verifyRedirectUri(flow.redirectUri, client.redirectUris);
  // Where failures are sent from here on.
  const to: ClientReturn = { redirect, state: flow.state, issuer, flowId: handle.flowId };
  return { ...pushed, client, to };
}

/**
 * Resolves vendor, endpoints and credentials as pushed; spends nothing.
 *
 * @returns the error when it must go to the client
 */
async function chooseAgain(
  { handle: { flowId }, flow }: PendingRequest,
  { flows }: Pick<LegDeps, "flows">,
  trace: Trace,
): Promise<VendorChoice | OAuthError> {
  return flows.vendorOf({ leg: "authorize", flowId, flow }, trace).catch((error: unknown) => toOAuthError(error));
}

function askUser(
  { handle, flow, client }: PendingRequest,
  { vendor }: VendorChoice,
  cookie: BindingCookie,
  parameters: Parameters,
  { issuer }: Pick<Deps, "issuer">,
): Answer {
  const { flowId } = handle;
  const [requestUri, csrf] = [parameters.require("request_uri"), formToken(ownerForm(flowId), cookie)];
  const headers = setBindingCookie(issuer, flowId, cookie.value);
  return ownerPage({ client, vendor, flow, requestUri, csrf, flowId }, headers);
}

//= bar#XA-9
function requireShownHere(form: Parameters, { cookie, handle }: PendingRequest, trace: Trace): BindingCookie {
  if (cookie === undefined) throw refusePage(trace, "browser_mismatch");
  if (!isFormToken(form.get("csrf"), ownerForm(handle.flowId), cookie)) throw refusePage(trace, "csrf_mismatch");
  return cookie;
}

/** The flow that the form of the page belongs to. */
function ownerForm(flowId: string): string {
  return `owner-page\0${flowId}`;
}

function readDecision(form: Parameters, trace: Trace): "approve" | "deny" {
  const decision = form.get("decision");
  if (decision === "approve" || decision === "deny") return decision;
  throw refusePage(trace, "decision_missing");
}

async function deny(
  pending: PendingRequest,
  { flows, issuer }: Pick<LegDeps, "flows" | "issuer">,
  trace: Trace,
): Promise<Answer> {
  const { handle, to } = pending;
  await flows.decline(pending, trace);
  const denied = new OAuthError("access_denied", "The user declined before leaving for the vendor");
  const answer = errorRedirect(denied, to, trace);
  return { ...answer, headers: { ...answer.headers, ...clearBindingCookie(issuer, handle.flowId) } };
}

/**
 * Spends the request_uri. PKCE #2 and the nonce are derived from the key generation that is active
 * now.
 */
async function redirectToVendor(
  { handle, flow }: PendingRequest,
  choice: VendorChoice,
  { cookie, binding = flow.binding }: { readonly cookie: BindingCookie; readonly binding?: Flow["binding"] },
  { flows, keyset }: Pick<LegDeps, "flows" | "keyset">,
  trace: Trace,
): Promise<Answer> {
  const { kid } = keyset.active("flow");
  return flows.start({ flowId: handle.flowId, flow, handle }, choice, cookie, trace, { kid, binding });
}
