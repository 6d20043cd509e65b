/**
 * POST /register: JSON in, a vendor's own answer out. Unlike the endpoints of api.ts its body is no form, so that client
 * authentication stands in the Authorization header alone.
 */
import { authenticateByHeader } from "@oauth-broker/oauth-core";
import { type BodyLimit, foreignAnswer, readJsonText } from "@oauth-broker/oauth-core/hono";
import type { Context } from "hono";
import type { RateLimit, Route } from "@oauth-broker/oauth-core/service";
import type { ClientConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { register } from "../flows/register.ts";

export interface RegisterDeps extends Deps {
  readonly limit: BodyLimit;
  readonly rateLimit: RateLimit;
  /** Sandbox: whoever does not authenticate acts as this client. */
  readonly openTo: ClientConfig | undefined;
}

export function registerRoutes(deps: RegisterDeps): Route[] {
  return [
    {
      method: "POST",
      path: "/register",
      surface: "api",
      handle: async (c, trace) => {
        const text = await readJsonText(c, deps.limit);
        const client = await callerOf(c, deps);
        trace.clientId = client.clientId;
        //= bar#DC-6
        await deps.rateLimit(client.clientId);
        const { status, contentType, body } = await register(text, client, deps, trace);
        return foreignAnswer(status, contentType, body);
      },
    },
  ];
}

/** Credentials that are presented must be right, in the sandbox too. */
async function callerOf(c: Context, deps: RegisterDeps): Promise<ClientConfig> {
  const authorization = c.req.header("authorization");
  if (authorization === undefined && deps.openTo !== undefined) return deps.openTo;
  return authenticateByHeader(authorization, deps);
}
