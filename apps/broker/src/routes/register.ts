/**
 * POST /register: takes JSON and returns a vendor's own answer. Unlike the endpoints of api.ts its
 * body is not a form, so client authentication is in the Authorization header alone.
 */
import { authenticateByHeader } from "@oauth-broker/oauth-core/authorization-server";
import { apiRoute, type BodyLimit, readJsonText, type Route } from "@oauth-broker/service/http";
import { foreignAnswer } from "@oauth-broker/oauth-core/http";
import type { Context } from "hono";
import type { ClientConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { register } from "../flows/register.ts";
import type { RateLimits } from "../rate-limits.ts";

export interface RegisterDeps extends Deps {
  readonly limit: BodyLimit;
  readonly rateLimits: Pick<RateLimits, "vendorCalls" | "registrations">;
  /** Sandbox: a caller that does not authenticate acts as this client. */
  readonly openTo: ClientConfig | undefined;
}

export function registerRoutes(deps: RegisterDeps): Route[] {
  return [
    apiRoute("POST", "/register", async (c, trace) => {
      const text = await readJsonText(c, deps.limit);
      const { client, countedAs } = await callerOf(c, deps);
      trace.clientId = client.clientId;
      //= bar#ST-8
      deps.rateLimits.vendorCalls.take(countedAs);
      //= bar#DC-6
      deps.rateLimits.registrations.take(countedAs);
      if (countedAs !== UNAUTHENTICATED) await deps.audit.record("client_authenticated", trace);
      const { status, contentType, body } = await register(text, client, deps, trace);
      return foreignAnswer(status, contentType, body);
    }),
  ];
}

/**
 * No client can have this id: unauthenticated callers are counted together and use up no client's
 * limit.
 */
const UNAUTHENTICATED = "";

/** Checks credentials that are presented, in the sandbox too. */
async function callerOf(
  c: Context,
  deps: RegisterDeps,
): Promise<{ readonly client: ClientConfig; readonly countedAs: string }> {
  const authorization = c.req.header("authorization");
  if (authorization === undefined && deps.openTo !== undefined) {
    return { client: deps.openTo, countedAs: UNAUTHENTICATED };
  }
  const client = await authenticateByHeader(authorization, deps);
  return { client, countedAs: client.clientId };
}
