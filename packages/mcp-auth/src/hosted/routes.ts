/** The open paths of hosted mode. app.ts mounts them beside `/mcp`, behind the check of Host and Origin. */
import type { Parameters } from "@oauth-broker/oauth-core";
import { type Answer, readForm, readJsonText, readQuery } from "@oauth-broker/oauth-core/hono";
import { createRateLimit, type Route, type Trace } from "@oauth-broker/oauth-core/service";
import type { Context } from "hono";
import type { PlatformCallback, ServerCallback } from "../settings.ts";
import { authorize } from "./authorize.ts";
import { createCallerAddress } from "./caller-address.ts";
import { type FindClient, platformClient } from "./clients.ts";
import { redeemVendorCode } from "./code-grant.ts";
import type { HostedDeps } from "./deps.ts";
import { authorizationServerMetadata, protectedResourceMetadata } from "./metadata.ts";
import { PATHS } from "./paths.ts";
import { register } from "./register.ts";
import { revoke } from "./revoke.ts";
import { askConsent } from "./server-callback/ask-consent.ts";
import { createClientDocuments } from "./server-callback/client-metadata-document.ts";
import { createServerClients } from "./server-callback/find-client.ts";
import { finishCallback } from "./server-callback/finish-callback.ts";
import { redeemOwnCode } from "./server-callback/redeem-own-code.ts";
import { noteUse, registerClient, type RegistrationRules } from "./server-callback/registration.ts";
import { takeDecision } from "./server-callback/take-decision.ts";
import { answerToken, type TokenDeps } from "./token.ts";

const LIMIT = { bodyBytes: 65_536 };
/** Open registration takes in whoever comes: over all of them, so that what is stored stays bounded. */
const REGISTRATIONS_PER_MINUTE = 60;
const REGISTRATION_LIMIT = { bodyBytes: 8_192 };

export function hostedRoutes(deps: HostedDeps): Route[] {
  const { callback } = deps.settings;
  const routes = callback.kind === "server" ? serverRoutes(callback, deps) : platformRoutes(callback, deps);
  return [...metadataRoutes(deps), ...limited(routes, deps)];
}

function metadataRoutes(deps: HostedDeps): Route[] {
  const resource: Route["handle"] = () => protectedResourceMetadata(deps.settings);
  return [
    { method: "GET", path: PATHS.authorizationServer, surface: "api", handle: () => authorizationServerMetadata(deps) },
    { method: "GET", path: PATHS.protectedResource, surface: "api", handle: resource },
    { method: "GET", path: PATHS.protectedResource + PATHS.mcp, surface: "api", handle: resource },
  ];
}

function platformRoutes(callback: PlatformCallback, deps: HostedDeps): Route[] {
  const platform = platformClient(callback);
  const findClient: FindClient = async (clientId) => (clientId === platform.clientId ? platform : undefined);
  const redeemCode: TokenDeps["redeemCode"] = (parameters, client) => redeemVendorCode(parameters, client, deps);
  const registration: Route = {
    method: "POST",
    path: PATHS.register,
    surface: "api",
    handle: async (c) => register(await readJsonText(c, LIMIT), platform),
  };
  return [
    {
      method: "GET",
      path: PATHS.authorize,
      surface: "browser",
      handle: (c, trace) => authorize(readQuery(c), { ...deps, findClient }, trace),
    },
    ...tokenRoutes({ ...deps, findClient, redeemCode }),
    ...(callback.registers ? [registration] : []),
  ];
}

function serverRoutes(callback: ServerCallback, hosted: HostedDeps): Route[] {
  const documents = createClientDocuments({
    fetch: hosted.fetchDocument,
    hosts: callback.clientMetadataHosts,
    allowLoopback: hosted.settings.egress.allowLoopback,
    now: hosted.now,
  });
  const clients = createServerClients(callback, { ...hosted, documents });
  const deps = { ...hosted, callback, findClient: clients.find };
  const browser = (
    method: Route["method"],
    path: string,
    answer: (parameters: Parameters, cookie: string | undefined, trace: Trace) => Promise<Answer>,
  ): Route => ({
    method,
    path,
    surface: "browser",
    handle: async (c, trace) =>
      answer(method === "POST" ? await readForm(c, LIMIT) : readQuery(c), c.req.header("cookie"), trace),
  });
  const { registration } = callback;
  return [
    browser("GET", PATHS.authorize, (parameters, cookie, trace) => askConsent(parameters, cookie, deps, trace)),
    browser("POST", PATHS.authorize, (parameters, cookie, trace) => takeDecision(parameters, cookie, deps, trace)),
    browser("GET", PATHS.callback, (parameters, cookie, trace) => finishCallback(parameters, cookie, deps, trace)),
    ...tokenRoutes({
      ...deps,
      findClient: clients.findHolder,
      redeemCode: (parameters, client, trace) => redeemOwnCode(parameters, client, deps, trace),
      noteUse: (client) => noteUse(client, hosted),
    }),
    ...(registration === undefined ? [] : [registrationRoute(registration, hosted)]),
  ];
}

function registrationRoute(rules: RegistrationRules, { records, now }: HostedDeps): Route {
  //= bar#AS-12
  const limit = createRateLimit(REGISTRATIONS_PER_MINUTE);
  const deps = { records, now, admit: () => limit("all") };
  return {
    method: "POST",
    path: PATHS.register,
    surface: "api",
    handle: async (c) => registerClient(await readJsonText(c, REGISTRATION_LIMIT), rules, deps),
  };
}

function tokenRoutes(deps: TokenDeps): Route[] {
  const request = async (c: Context) => ({
    parameters: await readForm(c, LIMIT),
    authorization: c.req.header("authorization"),
  });
  return [
    {
      method: "POST",
      path: PATHS.token,
      surface: "api",
      handle: async (c, trace) => answerToken(await request(c), deps, trace),
    },
    {
      method: "POST",
      path: PATHS.revoke,
      surface: "api",
      handle: async (c, trace) => revoke(await request(c), deps, trace),
    },
  ];
}

/** Per address; the vendor is named for the log. */
function limited(routes: readonly Route[], { settings: { limits, vendor } }: HostedDeps): Route[] {
  const rateLimit = createRateLimit(limits.requestsPerMinute);
  const addressOf = createCallerAddress(limits.trustedProxies);
  return routes.map((route) => ({
    ...route,
    handle: async (c, trace) => {
      trace.vendor = vendor.vendor.id;
      await rateLimit(addressOf(c));
      return route.handle(c, trace);
    },
  }));
}
