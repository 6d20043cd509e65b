/**
 * Clients that are web pages of another origin: which of them may call a route and read its
 * responses (the CORS protocol of the Fetch standard). They send a bearer token; credentials are
 * never allowed, so that no page acts with the user's cookies. http-layer.ts sets the headers on
 * every response of such a route, regardless of its outcome; a preflight needs no token.
 */
import type { Context } from "hono";
import { ANY_ORIGIN, isSerializedOrigin } from "../configuration/values.ts";
import { emptyAnswer } from "@oauth-broker/oauth-core/http";
import type { Route } from "./http-layer.ts";

/** Which origins may call a route and read its answers. */
export interface Cors {
  /** @param origin the Origin header as received */
  allows(origin: string): boolean;
  /**
   * The headers of every response.
   *
   * @param origin the Origin header as received; a page of another origin sends one
   */
  headersFor(origin: string | undefined): Readonly<Record<string, string>>;
}

/** Every response varies by Origin, including refusals. */
const VARY = { vary: "Origin" } as const;
const EXPOSED = "WWW-Authenticate, Mcp-Session-Id, Retry-After";

/** @param allowed entries that pass `checkAllowedOrigin`; others match nothing */
export function createCors(allowed: readonly string[]): Cors {
  const listed = new Set(allowed.filter(isSerializedOrigin));
  const isOpen = allowed.includes(ANY_ORIGIN);
  const allows = (origin: string): boolean => listed.has(origin) || (isOpen && isSerializedOrigin(origin));
  return {
    allows,
    headersFor: (origin) =>
      origin === undefined || !allows(origin)
        ? VARY
        : {
            ...VARY,
            "access-control-allow-origin": isOpen ? ANY_ORIGIN : origin,
            "access-control-expose-headers": EXPOSED,
          },
  };
}

/** The methods MCP clients send: a page can read the 405 of a method that a path does not serve. */
const PREFLIGHT = emptyAnswer({
  "access-control-allow-methods": "GET, POST, DELETE",
  // `*` does not cover Authorization.
  "access-control-allow-headers": "authorization, *",
  "access-control-max-age": "600",
});

/** Public documents: every page may read them, and a refusal too, to know when to come again. */
const PUBLIC: Cors = {
  allows: () => true,
  headersFor: () => ({ "access-control-allow-origin": ANY_ORIGIN, "access-control-expose-headers": "Retry-After" }),
};

/** The route, open to every page: what it answers is public, and depends on nothing a browser adds. */
export function readableByAll(route: Route): Route {
  return withCors(route, PUBLIC);
}

/** The route, open to pages of the origins that `cors` allows. */
export function withCors(route: Route, cors: Cors): Route {
  return {
    ...route,
    cors,
    otherMethods: (c, trace) => (isPreflight(c, cors) ? PREFLIGHT : route.otherMethods?.(c, trace)),
  };
}

function isPreflight({ req }: Context, cors: Cors): boolean {
  if (req.method !== "OPTIONS" || req.header("access-control-request-method") === undefined) return false;
  return cors.allows(req.header("origin") ?? "");
}
