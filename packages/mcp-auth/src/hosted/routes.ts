/** The open paths of hosted mode. app.ts mounts them beside `/mcp`, behind the check of Host and Origin. */
import { parseParameters } from "@oauth-broker/oauth-core";
import { readForm, readJsonText } from "@oauth-broker/oauth-core/hono";
import { createRateLimit, type Route } from "@oauth-broker/oauth-core/service";
import type { Context } from "hono";
import type { PlatformCallback } from "../settings.ts";
import { authorize } from "./authorize.ts";
import { createCallerAddress } from "./caller-address.ts";
import { type FindClient, platformClient } from "./clients.ts";
import { redeemVendorCode } from "./code-grant.ts";
import type { HostedDeps } from "./deps.ts";
import { authorizationServerMetadata, protectedResourceMetadata } from "./metadata.ts";
import { PATHS } from "./paths.ts";
import { register } from "./register.ts";
import { revoke } from "./revoke.ts";
import { answerToken, type TokenDeps } from "./token.ts";

const LIMIT = { bodyBytes: 65_536 };

export function hostedRoutes(deps: HostedDeps): Route[] {
  const { callback } = deps.settings;
  if (callback.kind === "server") throw new Error("OAUTH_CALLBACK=server is not part of this release");
  return [...metadataRoutes(deps), ...limited(platformRoutes(callback, deps), deps)];
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
      handle: (c, trace) => authorize(query(c), { ...deps, findClient }, trace),
    },
    ...tokenRoutes({ ...deps, findClient, redeemCode }),
    ...(callback.registers ? [registration] : []),
  ];
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

function query(c: Context) {
  const { url } = c.req;
  const start = url.indexOf("?");
  return parseParameters(start < 0 ? "" : (url.slice(start + 1).split("#", 1)[0] ?? ""));
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
