/**
 * Accepts only requests meant for this server: a page in the user's browser that reaches it under a
 * foreign name (DNS rebinding), or posts from another site, is refused before any other check.
 * origins.ts decides which other sites may call which path.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Route } from "@oauth-broker/service/http";
import type { Context } from "hono";
import type { Settings } from "../../settings.ts";

/** Loopback, in any URL spelling. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** @returns whether a Host header is ours, and an Origin, if any, is ours or allowed */
export type KnownHost = (host: string | undefined, origin: string | undefined) => boolean;

/**
 * Host is `DEPLOYMENT_URL`'s. Without one: loopback names while the server listens on loopback,
 * else any name, and our Origin is then that of the requested host.
 *
 * @param isAllowed origins of others
 */
//= bar#RS-7
export function createKnownHost(
  { deploymentUrl, listen }: Pick<Settings, "deploymentUrl" | "listen">,
  isAllowed: (origin: string) => boolean = () => false,
): KnownHost {
  if (deploymentUrl !== undefined) {
    const { host: expected, origin: own, protocol } = new URL(deploymentUrl);
    // The same server (rfc9110#4.2.3).
    const defaultPort = protocol === "https:" ? /:443$/ : /:80$/;
    return (host, origin) =>
      host?.toLowerCase().replace(defaultPort, "") === expected &&
      (origin === undefined || origin === own || isAllowed(origin));
  }
  const isOnLoopback = isLoopback(listen.host);
  return (host, origin) => {
    const asked = host === undefined ? undefined : URL.parse(`http://${host}`);
    if (asked === undefined || asked === null) return false;
    if (isOnLoopback && !LOOPBACK.test(asked.hostname)) return false;
    return origin === undefined || URL.parse(origin)?.host === asked.host || isAllowed(origin);
  };
}

/** Most often a proxy has put its own name for this server there. */
function hostDetail(host: string | undefined, deploymentUrl: string | undefined): string {
  const expected = deploymentUrl === undefined ? "localhost or 127.0.0.1" : new URL(deploymentUrl).host;
  return `expected Host ${expected}, got ${quoteHeader(host)}: a proxy in front has to keep the Host of the request`;
}

function originDetail(origin: string | undefined): string {
  return `Origin ${quoteHeader(origin)} is neither our own nor in ALLOWED_ORIGINS`;
}

const LONGEST_SHOWN = 100;

/** A header of a stranger, for the log: what a host or an origin can have, and no more of it than fits. */
function quoteHeader(header = "none"): string {
  return header.slice(0, LONGEST_SHOWN).replace(/[^\w.:/[\]-]/g, "?");
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === "::1";
}

/**
 * For any method: one that the path does not serve is refused all the same.
 *
 * @param deploymentUrl whose Host is expected; undefined: a name of loopback
 */
export function onlyForUs(route: Route, isKnown: KnownHost, deploymentUrl: string | undefined): Route {
  const requireKnown = (c: Context): void => {
    const [host, origin] = [c.req.header("host"), c.req.header("origin")];
    if (isKnown(host, origin)) return;
    const isOfOrigin = isKnown(host, undefined);
    const description = isOfOrigin ? "This server refuses that Origin" : "This server does not answer to that Host";
    const detail = isOfOrigin ? originDetail(origin) : hostDetail(host, deploymentUrl);
    throw new OAuthError("invalid_request", description, { reason: "foreign_host", status: 403, detail });
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
