/** The three paths a user's browser visits on its way to the vendor and back. */
import { OAuthError, type Parameters, parseParameters } from "@oauth-broker/oauth-core";
import { type BodyLimit, readForm, readQuery, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { Context } from "hono";
import type { Route, Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { CALLBACK_PATH as CALLBACK, callbackPath, isContext } from "../vendor/callback-path.ts";
import { authorize, takeDecision } from "../flows/authorize.ts";
import type { LegDeps } from "../flows/policy.ts";
import { refusePage } from "../flows/refusal.ts";

export interface BrowserDeps extends LegDeps {
  readonly limit: BodyLimit;
}

export function browserRoutes(deps: BrowserDeps): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/authorize",
      surface: "browser",
      handle: (c, trace) => authorize(readQuery(c), c.req.header("cookie"), deps, trace),
    },
    {
      method: "POST",
      path: "/v1/authorize",
      surface: "browser",
      handle: async (c, trace) => takeDecision(await readForm(c, deps.limit), c.req.header("cookie"), deps, trace),
    },
    {
      method: "GET",
      path: CALLBACK,
      surface: "browser",
      handle: (c, trace) => callback(c, CALLBACK, readQuery(c), deps, trace),
    },
    { method: "POST", path: CALLBACK, surface: "browser", handle: (c, trace) => formPost(c, CALLBACK, deps, trace) },
    // A vendor that a caller names has a path of its own.
    {
      method: "GET",
      path: callbackPath(":context"),
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = readQuery(c);
        const context = await requireContext(c, parameters, deps, trace);
        return callback(c, callbackPath(context), parameters, deps, trace);
      },
    },
    {
      method: "POST",
      path: callbackPath(":context"),
      surface: "browser",
      handle: async (c, trace) => {
        const context = await requireContext(c, parseParameters(""), deps, trace);
        return formPost(c, callbackPath(context), deps, trace);
      },
    },
  ];
}

/** Leg 3: every check and what comes of it are the engine's. */
function callback(c: Context, path: string, parameters: Parameters, { flows }: BrowserDeps, trace: Trace) {
  return flows.callback({ parameters, cookieHeader: c.req.header("cookie"), path }, trace);
}

/**
 * A cross-site POST carries no Lax cookie; the GET it becomes does.
 *
 * @param path the one it came to
 */
//= bar#CB-12
async function formPost(c: Context, path: string, deps: BrowserDeps, trace: Trace) {
  const parameters = await readForm(c, deps.limit);
  await nameFlow(parameters, deps, trace);
  const answer = new URLSearchParams();
  for (const name of parameters.names()) answer.append(name, parameters.require(name));
  const iss = parameters.sent("iss");
  if (iss === "") answer.append("iss", iss);
  const location = `${path}?${answer.toString()}`;
  if (location.length > MAX_LOCATION) throw new OAuthError("invalid_request", "The response is too large");
  return redirectAnswer(location);
}

/** Node refuses longer request lines on the way back in. */
const MAX_LOCATION = 12_000;

/** A segment that no context ever is. Whether it is the flow's own, the record says. */
//= bar#XA-1
async function requireContext(c: Context, parameters: Parameters, deps: BrowserDeps, trace: Trace): Promise<string> {
  const context = c.req.param("context") ?? "";
  if (isContext(context)) return context;
  await nameFlow(parameters, deps, trace);
  throw refusePage(trace, "path_mismatch");
}

/** For log and page only: the flow of a state that is ours. */
async function nameFlow(parameters: Parameters, { state }: Pick<Deps, "state">, trace: Trace): Promise<void> {
  const claims = await state.verify(parameters.get("state") ?? "").catch(() => undefined);
  if (claims !== undefined) trace.flowId = claims.jti;
}
