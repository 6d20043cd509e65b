/**
 * The endpoints that a platform's backend calls: authenticated clients, form bodies, JSON answers,
 * or JWEs of them.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { type Parameters, parseParameters } from "@oauth-broker/oauth-core/protocol";
import {
  authenticateClient,
  flowIdOfForm,
  type ResponseEncryption,
} from "@oauth-broker/oauth-core/authorization-server";
import { apiRoute, type BodyLimit, readFormText, type Route, type Trace } from "@oauth-broker/service/http";
import { jsonAnswer, jwtAnswer } from "@oauth-broker/oauth-core/http";
import type { Context } from "hono";
import type { ClientConfig } from "../config.ts";
import { check } from "../flows/check.ts";
import { explain } from "../flows/explain.ts";
import { pushRequest } from "../flows/par.ts";
import type { LegDeps } from "../flows/policy.ts";
import { refresh } from "../flows/refresh.ts";
import { revoke } from "../flows/revoke.ts";
import type { SingleFlight } from "../grants/single-flight.ts";
import { redeemBrokerCode } from "../flows/redeem-broker-code.ts";
import type { TokenAnswer } from "../grants/token-answer.ts";
import type { RateLimits } from "../rate-limits.ts";

export interface ApiDeps extends LegDeps {
  readonly limit: BodyLimit;
  readonly rateLimits: RateLimits;
  readonly singleFlight: SingleFlight;
  readonly responseEncryption: ResponseEncryption;
}

export function apiRoutes(deps: ApiDeps): Route[] {
  const inJson = (call: Leg, status = 200): Call => {
    return async (parameters, client, trace) => jsonAnswer(status, await call(parameters, client, deps, trace));
  };
  return [
    //= rfc9126#2.2
    clientRoute("/v1/par", "par", deps, inJson(pushRequest, 201)),
    clientRoute("/v1/token", "vendorCalls", deps, async (parameters, client, trace) => {
      if (client.encryptedResponse === undefined) return inJson(grant)(parameters, client, trace);
      // Checks the encryption key first: an answer that the client cannot read must not cost a
      // code.
      const encrypt = await deps.responseEncryption.prepare(client.encryptedResponse);
      return jwtAnswer(200, await encrypt(await grant(parameters, client, deps, trace)));
    }),
    clientRoute("/v1/revoke", "vendorCalls", deps, inJson(revoke)),
    clientRoute("/v1/check", "vendorCalls", deps, inJson(check)),
    clientRoute("/v1/explain", "explain", deps, inJson(explain)),
  ];
}

type Leg = (parameters: Parameters, client: ClientConfig, deps: ApiDeps, trace: Trace) => Promise<unknown>;
type Call = (parameters: Parameters, client: ClientConfig, trace: Trace) => ReturnType<Route["handle"]>;

function clientRoute(path: string, counted: keyof RateLimits, deps: ApiDeps, call: Call): Route {
  return apiRoute("POST", path, async (c: Context, trace: Trace) => {
    const form = await readFormText(c, deps.limit);
    const flowId = flowIdOfForm(form);
    if (flowId !== undefined) trace.flowId = flowId;
    const parameters = parseParameters(form);
    const client = await authenticateClient(c.req.header("authorization"), parameters, deps);
    trace.clientId = client.clientId;
    // Before anything is recorded: a client beyond its limit must not fill the disk.
    //= bar#ST-8
    deps.rateLimits[counted].take(client.clientId);
    await deps.audit.record("client_authenticated", trace);
    return call(parameters, client, trace);
  });
}

//= rfc6749#5.2
function grant(parameters: Parameters, client: ClientConfig, deps: ApiDeps, trace: Trace): Promise<TokenAnswer> {
  switch (parameters.require("grant_type")) {
    case "authorization_code":
      return redeemBrokerCode(parameters, client, deps, trace);
    case "refresh_token":
      return refresh(parameters, client, deps.singleFlight, deps, trace);
    default:
      throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token");
  }
}
