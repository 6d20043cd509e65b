/**
 * Leg 3, /v1/callback and /v1/custom/{context}/callback: the vendor sends the browser back. A GET
 * carries the answer; a POST (form post) is redirected to the same GET. Only the path is checked
 * here: every check of the answer is the engine's (brokered-code/callback.ts), under the broker's
 * policy. Before it: authorize.ts. After it: the client sends the code to /v1/token.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import type { Trace } from "@oauth-broker/service/http";
import { callbackPath, isContext } from "../vendor-choice/callback-path.ts";
import type { LegDeps } from "./policy.ts";
import { refusePage } from "./refusal.ts";

interface ReceivedCallback {
  readonly parameters: Parameters;
  readonly cookieHeader: string | undefined;
  /** The segment of `/v1/custom/{context}/callback`; absent on the shared callback. */
  readonly context: string | undefined;
}

type CallbackDeps = Pick<LegDeps, "flows" | "audit">;

/** @throws OAuthError for the 400 page; the vendor's own errors become redirects to the client */
export async function finishCallback(
  { parameters, cookieHeader, context }: ReceivedCallback,
  deps: CallbackDeps,
  trace: Trace,
): Promise<Answer> {
  // 1. a well-formed context
  await requireContext(context, parameters, deps, trace);
  const path = callbackPath(context);
  // 2. this flow's answer, checked and parked
  const answer = await deps.flows.callback({ parameters, cookieHeader, path }, trace);
  // 3. unless the vendor refused
  if (trace.failure === undefined) await deps.audit.record("consent_given", trace);
  return answer;
}

/** Node refuses longer request lines when the browser follows the redirect. */
const MAX_LOCATION = 12_000;

/** A cross-site POST carries no Lax cookie; the GET that follows it does. */
//= bar#CB-12
export async function repeatAsGet(
  { parameters, context }: Omit<ReceivedCallback, "cookieHeader">,
  deps: Pick<LegDeps, "flows">,
  trace: Trace,
): Promise<Answer> {
  await requireContext(context, parameters, deps, trace);
  await deps.flows.identify({ state: parameters.get("state") }, trace);
  const answer = new URLSearchParams();
  for (const name of parameters.names()) answer.append(name, parameters.require(name));
  const iss = parameters.sent("iss");
  if (iss === "") answer.append("iss", iss);
  const location = `${callbackPath(context)}?${answer.toString()}`;
  if (location.length > MAX_LOCATION) throw new OAuthError("invalid_request", "The response is too large");
  return redirectAnswer(location);
}

/**
 * Refuses a segment that cannot be a context. The flow record decides whether it is the flow's own.
 */
//= bar#XA-1
async function requireContext(
  context: string | undefined,
  parameters: Parameters,
  { flows }: Pick<LegDeps, "flows">,
  trace: Trace,
): Promise<void> {
  if (context === undefined || isContext(context)) return;
  await flows.identify({ state: parameters.get("state") }, trace);
  throw refusePage(trace, "path_mismatch");
}
