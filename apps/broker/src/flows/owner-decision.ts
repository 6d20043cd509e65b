/**
 * Leg 2 in two steps, POST /v1/authorize: what the user decided on the page that names client and owner. The request_uri is
 * spent here and not when the page is shown, so that a reload, a second tab or a link preview costs nothing.
 * Before it: open-vendor.ts shows the page. After it: the vendor, and finish-callback.ts.
 */
import { type BindingCookie, clearBindingCookie, OAuthError, type Parameters } from "@oauth-broker/oauth-core";
import { type Answer, errorRedirect } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { asData, flowKey, FORGOTTEN_AT_END } from "./flow-record.ts";
import { type Arrival, chooseAgain, findArrival, leave, refuseToClient } from "./open-vendor.ts";
import { isCsrfToken, needsOwnerPage } from "./owner-consent.ts";
import { refusePage } from "./refusal.ts";

/** @throws OAuthError for the 400 page; it changes nothing, so that no stranger can burn the flow */
export async function takeDecision(
  form: Parameters,
  cookieHeader: string | undefined,
  deps: Deps,
  trace: Trace,
): Promise<Answer> {
  const arrival = await findArrival(form, cookieHeader, deps, trace); //    1  this client's, and no stranger's reload
  if (arrival.stage !== "pushed") throw refusePage(trace, "request_uri_used");
  const choice = await chooseAgain(arrival, deps); //                        2  the vendor as pushed; a failure waits
  const isAsked = choice instanceof OAuthError || needsOwnerPage(choice, arrival.client, deps);
  if (!isAsked) throw refusePage(trace, "page_not_needed");
  const cookie = requireShownHere(form, arrival, trace); //                  3  by the page this very browser was shown
  if (readDecision(form, trace) === "deny") return deny(arrival, deps, trace);
  if (choice instanceof OAuthError) return refuseToClient(choice, arrival.to, trace);
  return leave(arrival, choice, cookie, deps, trace); //                     4  as without the page
}

//= bar#XA-9
function requireShownHere(form: Parameters, { cookie, handle }: Arrival, trace: Trace): BindingCookie {
  if (cookie === undefined) throw refusePage(trace, "browser_mismatch");
  if (!isCsrfToken(form.get("csrf"), handle.flowId, cookie)) throw refusePage(trace, "csrf_mismatch");
  return cookie;
}

function readDecision(form: Parameters, trace: Trace): "approve" | "deny" {
  const decision = form.get("decision");
  if (decision === "approve" || decision === "deny") return decision;
  throw refusePage(trace, "decision_missing");
}

async function deny(
  { handle, flow, to }: Arrival,
  { records, issuer, now }: Pick<Deps, "records" | "issuer" | "now">,
  trace: Trace,
): Promise<Answer> {
  const failed = { at: now(), leg: "authorize", reason: "access_denied" } as const;
  const { outcome } = await records.advance(
    flowKey(handle.flowId),
    { stage: "pushed", expect: { requestHash: handle.hash, clientId: flow.clientId } },
    { stage: "failed", set: asData({ failed }), remove: FORGOTTEN_AT_END },
  );
  if (outcome !== "moved") throw refusePage(trace, "request_uri_used");
  trace.failure = new OAuthError("access_denied", "The user declined before leaving for the vendor");
  const answer = errorRedirect(trace.failure, to);
  return { ...answer, headers: { ...answer.headers, ...clearBindingCookie(issuer, handle.flowId) } };
}
