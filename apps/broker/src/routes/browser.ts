/** The paths that a user's browser visits on its way to the vendor and back. */
import { type BodyLimit, readForm, readQuery } from "@oauth-broker/oauth-core/http";
import type { Route } from "@oauth-broker/oauth-core/service";
import { authorize, takeDecision } from "../flows/authorize.ts";
import { callback, repeatAsGet } from "../flows/callback.ts";
import type { LegDeps } from "../flows/policy.ts";
import { callbackPath } from "../vendor/callback-path.ts";

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
      handle: (c, trace) => {
        const [parameters, cookieHeader] = [readQuery(c), c.req.header("cookie")];
        return callback({ parameters, cookieHeader, context: c.req.param("context") }, deps, trace);
      },
    },
    {
      method: "POST",
      path,
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = await readForm(c, deps.limit);
        return repeatAsGet({ parameters, context: c.req.param("context") }, deps, trace);
      },
    },
  ];
}
