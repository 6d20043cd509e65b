/**
 * The routes of hosted mode without a bearer token. app.ts mounts them beside `/mcp`, behind the
 * check of Host and Origin.
 */
import { toOAuthError } from "@oauth-broker/oauth-core";
import { type Parameters, parseParameters } from "@oauth-broker/oauth-core/protocol";
import type { Answer } from "@oauth-broker/oauth-core/http";
import {
  apiRoute,
  createRateLimit,
  pageRoute,
  queryText,
  readFormText,
  readJsonText,
  readQuery,
  requireOwnPage,
  type Route,
  type Trace,
} from "@oauth-broker/service/http";
import { onBehalfOf } from "@oauth-broker/oauth-core/egress";
import { flowIdOfForm } from "@oauth-broker/oauth-core/authorization-server";
import type { Context } from "hono";
import { type CallerAddress, createCallerAddress } from "../caller-address.ts";
import type { PlatformCallback, ServerCallback } from "../settings.ts";
import { authorize } from "./platform-callback/authorize.ts";
import { type FindClient, requireClient } from "./clients/client.ts";
import { redeemVendorCode } from "./platform-callback/redeem-vendor-code.ts";
import type { HostedDeps } from "./deps.ts";
import { authorizationServerMetadata, protectedResourceMetadata } from "./metadata.ts";
import { PATHS } from "../resource/paths.ts";
import { platformClient, register } from "./clients/platform-client.ts";
import { askConsent, takeDecision } from "./server-callback/authorize.ts";
import { answerCallback, isLinkingState } from "./pages/flows.ts";
import { pageRoutes } from "./pages/routes.ts";
import type { Pages, PagesDeps } from "./pages/deps.ts";
import { createServerClients } from "./clients/find-client.ts";
import { createFlows } from "./server-callback/policy.ts";
import { redeemOwnCode } from "./server-callback/redeem-own-code.ts";
import { markUsed, registerClient, type RegistrationRules } from "./clients/registration.ts";
import { createUnusedClients } from "./clients/unused-clients.ts";
import { answerToken, revoke, type TokenDeps, type TokenRequest } from "./token-endpoint/token-endpoint.ts";

const LIMIT = { bodyBytes: 65_536 };
const REGISTRATION_LIMIT = { bodyBytes: 8_192 };

/** @param linking undefined with `VENDOR` */
export function hostedRoutes(deps: HostedDeps, linking: Pages | undefined): Route[] {
  const { callback, limits } = deps.settings;
  const addressOf = createCallerAddress(limits.trustedProxies);
  const routes =
    callback.kind === "server" ? serverRoutes(callback, deps, linking, addressOf) : platformRoutes(callback, deps);
  return [...metadataRoutes(deps), ...limitRequests(routes, deps, addressOf)];
}

function metadataRoutes(deps: HostedDeps): Route[] {
  const resource: Route["handle"] = () => protectedResourceMetadata(deps.settings);
  return [
    apiRoute("GET", PATHS.authorizationServer, () => authorizationServerMetadata(deps)),
    apiRoute("GET", PATHS.protectedResource, resource),
    apiRoute("GET", PATHS.protectedResource + PATHS.mcp, resource),
  ];
}

function platformRoutes(callback: PlatformCallback, deps: HostedDeps): Route[] {
  const platform = platformClient(callback);
  const findClient: FindClient = async (clientId) => (clientId === platform.clientId ? platform : undefined);
  const redeemCode: TokenDeps["redeemCode"] = (parameters, client) => redeemVendorCode(parameters, client, deps);
  const registration = apiRoute("POST", PATHS.register, async (c) => register(await readJsonText(c, LIMIT), platform));
  return [
    pageRoute("GET", PATHS.authorize, (c, trace) => authorize(readQuery(c), { ...deps, findClient }, trace)),
    ...tokenRoutes({ ...deps, findClient, redeemCode }),
    ...(callback.registers ? [registration] : []),
  ];
}

function serverRoutes(
  callback: ServerCallback,
  hosted: HostedDeps,
  linking: Pages | undefined,
  addressOf: CallerAddress,
): Route[] {
  const clients = createServerClients(callback, hosted);
  const bound = { ...hosted, callback, findClient: clients.find };
  const deps = { ...bound, flows: createFlows(bound) };
  const browser = (
    method: Route["method"],
    path: string,
    answer: (parameters: Parameters, cookie: string | undefined, trace: Trace) => Promise<Answer | Response>,
  ): Route =>
    pageRoute(method, path, async (c, trace) => {
      const sent = method === "POST" ? await readFormText(c, LIMIT) : queryText(c);
      const parameters = await deps.flows.read(sent, [], trace);
      if (method === "POST" && parameters.has("decision")) requireOwnPage(c.req.header("sec-fetch-site"));
      return answer(parameters, c.req.header("cookie"), trace);
    });
  const { registration } = callback;
  const pages: PagesDeps | undefined = linking && { ...linking, findClient: clients.find };
  return [
    browser("GET", PATHS.authorize, (parameters, cookie, trace) => askConsent(parameters, cookie, deps, trace)),
    browser("POST", PATHS.authorize, (parameters, cookie, trace) => takeDecision(parameters, cookie, deps, trace)),
    browser("GET", PATHS.callback, (parameters, cookieHeader, trace) => {
      const visit = { parameters, cookieHeader, path: PATHS.callback };
      const isLinking = pages !== undefined && isLinkingState(parameters);
      return isLinking ? answerCallback(visit, pages, trace) : deps.flows.callback(visit, trace);
    }),
    ...(pages === undefined ? [] : pageRoutes(pages)),
    ...tokenRoutes({
      ...deps,
      findClient: clients.findHolder,
      redeemCode: (parameters, client, trace) => redeemOwnCode(parameters, client, deps, trace),
      flowIdOf: flowIdOfForm,
      markUsed: (client) => markUsed(client, hosted),
    }),
    ...(registration === undefined ? [] : [registrationRoute(registration, hosted, addressOf)]),
  ];
}

function registrationRoute(
  rules: RegistrationRules,
  { records, serverKey, now, settings: { limits } }: HostedDeps,
  addressOf: CallerAddress,
): Route {
  //= bar#AS-12
  const registrations = createRateLimit(limits.registrationsPerMinute, now);
  const makeRoom = createUnusedClients({ records, serverKey, now });
  return apiRoute("POST", PATHS.register, async (c) => {
    const beforeStoring = async (clientId: string): Promise<void> => {
      //= bar#ST-8
      registrations.take(addressOf(c));
      await makeRoom(clientId);
    };
    return registerClient(await readJsonText(c, REGISTRATION_LIMIT), rules, { records, now, beforeStoring });
  });
}

function tokenRoutes(deps: TokenDeps): Route[] {
  const read = async (c: Context, trace: Trace): Promise<TokenRequest> => {
    const form = await readFormText(c, LIMIT);
    const flowId = deps.flowIdOf?.(form);
    if (flowId !== undefined) trace.flowId = flowId;
    const parameters = parseParameters(form);
    const client = await requireClient(c.req.header("authorization"), parameters, deps.findClient);
    trace.clientId = client.clientId;
    return { parameters, client };
  };
  return [
    apiRoute("POST", PATHS.token, async (c, trace) => answerToken(await read(c, trace), deps, trace)),
    apiRoute("POST", PATHS.revoke, async (c, trace) => revoke(await read(c, trace), deps)),
  ];
}

/**
 * For browsers every request is counted, of these only refused ones: a platform's backend refreshes
 * for all its users.
 */
const REFUSED_REQUESTS: ReadonlySet<string> = new Set([PATHS.token, PATHS.revoke]);

/** Per address; the vendor is added to the log. */
function limitRequests(
  routes: readonly Route[],
  { settings: { limits, vendor }, now }: HostedDeps,
  addressOf: CallerAddress,
): Route[] {
  const requests = createRateLimit(limits.requestsPerMinute, now);
  return routes.map((route) => ({
    ...route,
    handle: async (c, trace) => {
      trace.vendor = vendor.vendor.id;
      const isCounted = route.surface === "browser" || REFUSED_REQUESTS.has(route.path);
      if (!isCounted) return route.handle(c, trace);
      const address = addressOf(c);
      //= bar#ST-8
      requests.take(address);
      let isRefused = false;
      try {
        // What the request makes this server fetch is charged to the same address.
        return await onBehalfOf({ clientId: address }, () => route.handle(c, trace));
      } catch (thrown) {
        isRefused = toOAuthError(thrown).status < 500;
        throw thrown;
      } finally {
        // Counted before the request, so that concurrent requests do not all pass.
        if (REFUSED_REQUESTS.has(route.path) && !isRefused) requests.takeBack(address);
      }
    },
  }));
}
