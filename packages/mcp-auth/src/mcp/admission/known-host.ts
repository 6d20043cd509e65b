/**
 * Accepts only requests meant for this server: a page in the user's browser that reaches it under a
 * foreign name (DNS rebinding), or posts from another site, is refused before any other check.
 * origins.ts decides which other sites may call which path.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { isLoopbackName } from "@oauth-broker/service/configuration";
import { foreignHostDetail, isHostOf, quoteHeader, type Route } from "@oauth-broker/service/http";
import type { Context } from "hono";
import type { Settings } from "../../settings.ts";

/** @returns whether a Host header is ours, and an Origin, if any, is ours or allowed */
export type KnownHost = (host: string | undefined, origin: string | undefined) => boolean;

/**
 * Host is `DEPLOYMENT_URL`'s. Without one: loopback names while the server listens on loopback,
 * else any name, and our Origin is then that of the requested host, with TLS in front or without.
 *
 * @param isAllowed origins of others
 */
//= bar#RS-7
export function createKnownHost(
  { deploymentUrl, listen }: Pick<Settings, "deploymentUrl" | "listen">,
  isAllowed: (origin: string) => boolean = () => false,
): KnownHost {
  if (deploymentUrl !== undefined) {
    const own = new URL(deploymentUrl);
    return (host, origin) =>
      isHostOf(own, host) && (origin === undefined || origin === own.origin || isAllowed(origin));
  }
  const isOnLoopback = isLoopbackName(listen.host);
  return (host, origin) => {
    const asked = host === undefined ? undefined : URL.parse(`http://${host}`);
    if (asked === undefined || asked === null) return false;
    if (isOnLoopback && !isLoopbackName(asked.hostname)) return false;
    const own = [`http://${asked.host}`, `https://${asked.host}`];
    return origin === undefined || own.includes(origin) || isAllowed(origin);
  };
}

/**
 * For any method: one that the path does not serve is refused all the same.
 *
 * @param deploymentUrl whose Host is expected; undefined: a name of loopback
 */
export function onlyForUs(route: Route, isKnown: KnownHost, deploymentUrl: string | undefined): Route {
  const expected = deploymentUrl === undefined ? "localhost or 127.0.0.1" : new URL(deploymentUrl).host;
  const requireKnown = (c: Context): void => {
    const [host, origin] = [c.req.header("host"), c.req.header("origin")];
    if (isKnown(host, origin)) return;
    const isOfOrigin = isKnown(host, undefined);
    const description = isOfOrigin ? "This server refuses that Origin" : "This server does not answer to that Host";
    const detail = isOfOrigin
      ? `Origin ${quoteHeader(origin)} is neither our own nor in ALLOWED_ORIGINS`
      : foreignHostDetail(expected, host);
    const reason = isOfOrigin ? "foreign_origin" : "foreign_host";
    throw new OAuthError("invalid_request", description, { reason, status: 403, detail });
  };
  return {
    ...route,
    handle: (c, trace) => {
      requireKnown(c);
      return route.handle(c, trace);
    },
    otherMethods: (c, trace) => {
      requireKnown(c);
      return route.otherMethods?.(c, trace);
    },
  };
}
