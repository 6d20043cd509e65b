/** The three paths a user's browser visits on its way to the vendor and back. */
import { OAuthError, type Parameters, parseParameters } from "@oauth-broker/oauth-core";
import { type BodyLimit, readForm, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { Context } from "hono";
import type { Deps, Trace } from "../deps.ts";
import { finishCallback } from "../flows/finish-callback.ts";
import { openVendor } from "../flows/open-vendor.ts";
import { refusePage } from "../flows/refusal.ts";
import type { Route } from "./rim.ts";

const CALLBACK = "/v1/callback";

export interface BrowserDeps extends Deps {
  readonly limit: BodyLimit;
}

export function browserRoutes(deps: BrowserDeps): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/authorize",
      surface: "browser",
      handle: (c, trace) => openVendor(query(c), c.req.header("cookie"), deps, trace),
    },
    {
      method: "GET",
      path: CALLBACK,
      surface: "browser",
      handle: (c, trace) => finishCallback({ parameters: query(c), cookieHeader: c.req.header("cookie") }, deps, trace),
    },
    { method: "POST", path: CALLBACK, surface: "browser", handle: (c, trace) => formPost(c, deps, trace) },
    // Contexts belong to custom vendors; no flow of ours ever names one, so every arrival is a mix-up.
    {
      method: "GET",
      path: `${CALLBACK}/:context`,
      surface: "browser",
      handle: (c, trace) => wrongPath(query(c), deps, trace),
    },
    {
      method: "POST",
      path: `${CALLBACK}/:context`,
      surface: "browser",
      handle: async (c, trace) => wrongPath(await readForm(c, deps.limit), deps, trace),
    },
  ];
}

function query(c: Context) {
  const { url } = c.req;
  const start = url.indexOf("?");
  return parseParameters(start < 0 ? "" : (url.slice(start + 1).split("#", 1)[0] ?? ""));
}

/** A cross-site POST carries no Lax cookie; the GET it becomes does. */
//= bar#CB-12
async function formPost(c: Context, deps: BrowserDeps, trace: Trace) {
  const parameters = await readForm(c, deps.limit);
  await nameFlow(parameters, deps, trace);
  const answer = new URLSearchParams();
  for (const name of parameters.names()) answer.append(name, parameters.require(name));
  const iss = parameters.sent("iss");
  if (iss === "") answer.append("iss", iss);
  const location = `${CALLBACK}?${answer.toString()}`;
  if (location.length > MAX_LOCATION) throw new OAuthError("invalid_request", "The response is too large");
  return redirectAnswer(location);
}

/** Node refuses longer request lines on the way back in. */
const MAX_LOCATION = 12_000;

//= bar#XA-1
async function wrongPath(parameters: Parameters, deps: BrowserDeps, trace: Trace): Promise<never> {
  await nameFlow(parameters, deps, trace);
  throw refusePage(trace, "path_mismatch");
}

/** For log and page only: the flow of a state that is ours. */
async function nameFlow(parameters: Parameters, { state }: Pick<Deps, "state">, trace: Trace): Promise<void> {
  const claims = await state.verify(parameters.get("state") ?? "").catch(() => undefined);
  if (claims !== undefined) trace.flowId = claims.jti;
}
