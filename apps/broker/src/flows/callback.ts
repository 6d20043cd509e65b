/**
 * Leg 3, /v1/callback and /v1/custom/{context}/callback: the vendor sends the browser back. GET carries its answer; a POST (form
 * post) becomes that GET. Every check and what comes of it are the engine's (oauth-core/brokered-code/callback.ts), under the
 * broker's policy. Before it: authorize.ts. After it: the client brings the code to token.ts.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { callbackPath, isContext } from "../vendor/callback-path.ts";
import type { LegDeps } from "./policy.ts";
import { refusePage } from "./refusal.ts";

interface ReceivedCallback {
  readonly parameters: Parameters;
  readonly cookieHeader: string | undefined;
  /** Of `/v1/custom/{context}/callback`; absent where the answer came to the callback itself. */
  readonly context: string | undefined;
}

type CallbackDeps = Pick<LegDeps, "flows" | "state">;

/** @throws OAuthError for the 400 page; the vendor's own errors become redirects to the client */
export async function callback(
  { parameters, cookieHeader, context }: ReceivedCallback,
  deps: CallbackDeps,
  trace: Trace,
): Promise<Answer> {
  await requireContext(context, parameters, deps, trace); //                          1  a path that any flow could have
  const path = callbackPath(context);
  return deps.flows.callback({ parameters, cookieHeader, path }, trace); //           2  this flow's, and what comes of it
}

/** Node refuses longer request lines on the way back in. */
const MAX_LOCATION = 12_000;

/** A cross-site POST carries no Lax cookie; the GET it becomes does. */
//= bar#CB-12
export async function repeatAsGet(
  { parameters, context }: Omit<ReceivedCallback, "cookieHeader">,
  deps: CallbackDeps,
  trace: Trace,
): Promise<Answer> {
  await requireContext(context, parameters, deps, trace);
  await nameFlow(parameters, deps, trace);
  const answer = new URLSearchParams();
  for (const name of parameters.names()) answer.append(name, parameters.require(name));
  const iss = parameters.sent("iss");
  if (iss === "") answer.append("iss", iss);
  const location = `${callbackPath(context)}?${answer.toString()}`;
  if (location.length > MAX_LOCATION) throw new OAuthError("invalid_request", "The response is too large");
  return redirectAnswer(location);
}

/** A segment that no context ever is. Whether it is the flow's own, the record says. */
//= bar#XA-1
async function requireContext(
  context: string | undefined,
  parameters: Parameters,
  deps: CallbackDeps,
  trace: Trace,
): Promise<void> {
  if (context === undefined || isContext(context)) return;
  await nameFlow(parameters, deps, trace);
  throw refusePage(trace, "path_mismatch");
}

/** For log and page only: the flow of a state that is ours. */
async function nameFlow(parameters: Parameters, { state }: Pick<Deps, "state">, trace: Trace): Promise<void> {
  const claims = await state.verify(parameters.get("state") ?? "").catch(() => undefined);
  if (claims !== undefined) trace.flowId = claims.jti;
}
