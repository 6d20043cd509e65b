/** The paths that a user's browser visits on its way to the vendor and back. */
import {
  type BodyLimit,
  pageRoute,
  queryText,
  readFormText,
  requireOwnPage,
  type Route,
} from "@oauth-broker/service/http";
import { authorize, takeDecision } from "../flows/authorize.ts";
import { finishCallback, repeatAsGet } from "../flows/finish-callback.ts";
import type { LegDeps } from "../flows/policy.ts";
import { callbackPath } from "../vendor-choice/callback-path.ts";

export interface BrowserDeps extends LegDeps {
  readonly limit: BodyLimit;
}

/** The parameters that lead a browser to the flow that was pushed for it. */
const PUSHED = ["request_uri", "client_id"] as const;

export function browserRoutes(deps: BrowserDeps): Route[] {
  return [
    pageRoute("GET", "/v1/authorize", async (c, trace) => {
      const parameters = await deps.flows.read(queryText(c), PUSHED, trace);
      return authorize(parameters, c.req.header("cookie"), deps, trace);
    }),
    pageRoute("POST", "/v1/authorize", async (c, trace) => {
      const parameters = await deps.flows.read(await readFormText(c, deps.limit), PUSHED, trace);
      if (parameters.has("decision")) requireOwnPage(c.req.header("sec-fetch-site"));
      return takeDecision(parameters, c.req.header("cookie"), deps, trace);
    }),
    // A vendor that a caller names has its own callback path.
    ...[callbackPath(), callbackPath(":context")].flatMap((path) => callbackRoutes(path, deps)),
  ];
}

function callbackRoutes(path: string, deps: BrowserDeps): Route[] {
  return [
    pageRoute("GET", path, async (c, trace) => {
      const parameters = await deps.flows.read(queryText(c), [], trace);
      const cookieHeader = c.req.header("cookie");
      return finishCallback({ parameters, cookieHeader, context: c.req.param("context") }, deps, trace);
    }),
    pageRoute("POST", path, async (c, trace) => {
      const parameters = await deps.flows.read(await readFormText(c, deps.limit), [], trace);
      return repeatAsGet({ parameters, context: c.req.param("context") }, deps, trace);
    }),
  ];
}
