/** The paths that a user's browser visits on its way to the vendor and back. */
import { type BodyLimit, queryText, readFormText, type Route, type Trace } from "@oauth-broker/service/http";
import { type Parameters, parseParameters } from "@oauth-broker/oauth-core/protocol";
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
        const parameters = await readParameters(queryText(c), PUSHED, deps, trace);
        return authorize(parameters, c.req.header("cookie"), deps, trace);
      },
    },
    {
      method: "POST",
      path: "/v1/authorize",
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = await readParameters(await readFormText(c, deps.limit), PUSHED, deps, trace);
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
        const parameters = await readParameters(queryText(c), [], deps, trace);
        const cookieHeader = c.req.header("cookie");
        return callback({ parameters, cookieHeader, context: c.req.param("context") }, deps, trace);
      },
    },
    {
      method: "POST",
      path,
      surface: "browser",
      handle: async (c, trace) => {
        const parameters = await readParameters(await readFormText(c, deps.limit), [], deps, trace);
        return repeatAsGet({ parameters, context: c.req.param("context") }, deps, trace);
      },
    },
  ];
}

/**
 * Parameters that cannot be read, or that lack one, still name their flow on the page and in the
 * log: the vendor or the client sent them, and the user has to find the way back.
 *
 * @throws OAuthError invalid_request
 */
async function readParameters(
  sent: string,
  required: readonly string[],
  { flows }: Pick<BrowserDeps, "flows">,
  trace: Trace,
): Promise<Parameters> {
  try {
    const parameters = parseParameters(sent);
    for (const name of required) parameters.require(name);
    return parameters;
  } catch (error) {
    const lenient = new URLSearchParams(sent);
    const only = (name: string): string | undefined =>
      lenient.getAll(name).length === 1 ? (lenient.get(name) ?? "") : undefined;
    await flows.identify({ state: only("state"), requestUri: only("request_uri") }, trace);
    throw error;
  }
}
