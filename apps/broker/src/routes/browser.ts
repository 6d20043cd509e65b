/** The paths that a user's browser visits on its way to the vendor and back. */
import { type BodyLimit, queryText, readFormText, type Route } from "@oauth-broker/service/http";
import { authorize, takeDecision } from "../flows/authorize.ts";
import { callback, repeatAsGet } from "../flows/callback.ts";
import type { LegDeps } from "../flows/policy.ts";
import { callbackPath } from "../vendor-choice/callback-path.ts";

export interface BrowserDeps extends LegDeps {
  readonly limit: BodyLimit;
}

/** The parameters that lead a browser to the flow that was pushed for it. */
const PUSHED = ["request_uri", "client_id"] as const;

export function browserRoutes(deps: BrowserDeps): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/authorize",
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = await deps.flows.read(queryText(c), PUSHED, trace);
        return authorize(parameters, c.req.header("cookie"), deps, trace);
      },
    },
    {
      method: "POST",
      path: "/v1/authorize",
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = await deps.flows.read(await readFormText(c, deps.limit), PUSHED, trace);
        return takeDecision(parameters, c.req.header("cookie"), deps, trace);
      },
    },
    // A vendor that a caller names has its own callback path.
    ...[callbackPath(), callbackPath(":context")].flatMap((path) => callbackRoutes(path, deps)),
  ];
}

function callbackRoutes(path: string, deps: BrowserDeps): Route[] {
  return [
    {
      method: "GET",
      path,
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = await deps.flows.read(queryText(c), [], trace);
        const cookieHeader = c.req.header("cookie");
        return callback({ parameters, cookieHeader, context: c.req.param("context") }, deps, trace);
      },
    },
    {
      method: "POST",
      path,
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = await deps.flows.read(await readFormText(c, deps.limit), [], trace);
        return repeatAsGet({ parameters, context: c.req.param("context") }, deps, trace);
      },
    },
  ];
}
