/** The three paths a user's browser visits on its way to the vendor and back. */
import { OAuthError, parseParameters } from "@oauth-broker/oauth-core";
import { type BodyLimit, readForm, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { Context } from "hono";
import type { Deps, Trace } from "../deps.ts";
import { finishCallback } from "../flows/finish-callback.ts";
import { openVendor } from "../flows/open-vendor.ts";
import { refusePage } from "../flows/refusal.ts";
import type { Route } from "./rim.ts";

const CALLBACK = "/v1/callback";

export function browserRoutes(deps: Deps & { readonly limit: BodyLimit }): Route[] {
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
    { method: "POST", path: CALLBACK, surface: "browser", handle: (c) => formPost(c, deps.limit) },
    // Contexts belong to custom vendors; no flow of ours ever names one, so every arrival is a mix-up.
    { method: "GET", path: `${CALLBACK}/:context`, surface: "browser", handle: (_, trace) => wrongPath(trace) },
    { method: "POST", path: `${CALLBACK}/:context`, surface: "browser", handle: (_, trace) => wrongPath(trace) },
  ];
}

function query(c: Context) {
  const { url } = c.req;
  const start = url.indexOf("?");
  return parseParameters(start < 0 ? "" : (url.slice(start + 1).split("#", 1)[0] ?? ""));
}

/** A cross-site POST carries no Lax cookie; the GET it becomes does. */
//= bar#CB-12
async function formPost(c: Context, limit: BodyLimit) {
  const parameters = await readForm(c, limit);
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
function wrongPath(trace: Trace): never {
  throw refusePage(trace, "path_mismatch");
}
