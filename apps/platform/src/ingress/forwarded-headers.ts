/**
 * The headers that pass the ingress: all except hop-by-hop headers, headers that claim to come from
 * the ingress, and cookies of other servers.
 */
import { defined } from "@oauth-broker/oauth-core";
import { incomingCookies, outgoingCookie } from "./cookies.ts";

/** Hop-by-hop headers (RFC 9110 §7.6.1). */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** Headers that only a proxy in front of the server may set. */
const OF_PROXIES = /^(?:forwarded|x-forwarded-.*|x-real-ip)$/;

/**
 * Clear-Site-Data would empty the browser's cookie jar for the whole host, including the cookies of
 * the platform and of other servers.
 */
const OF_THE_HOST = "clear-site-data";

export interface RequestHeaderRules {
  /** The connector of the server. */
  readonly connectorId: string;
  /** The authority of the server. */
  readonly host: string;
  readonly keepsAuthorization: boolean;
  /** The address connected to the ingress. The server's limits apply to it. */
  readonly callerAddress: string;
}

/** @returns header names in lower case */
export function requestHeaders(
  headers: Headers,
  { connectorId, host, keepsAuthorization, callerAddress }: RequestHeaderRules,
): Record<string, string> {
  const dropped = hopByHopNames(headers.get("connection"));
  const passed = [...headers].filter(
    ([name]) => !dropped.has(name) && !OF_PROXIES.test(name) && (keepsAuthorization || name !== "authorization"),
  );
  const { cookie: sent = "", ...rest } = Object.fromEntries(passed);
  const cookie = incomingCookies(sent, connectorId);
  return { ...rest, ...defined({ cookie }), host, "x-forwarded-for": callerAddress };
}

/** @param raw names and values, alternating, as received */
export function responseHeaders(raw: readonly string[], connectorId: string): Headers {
  const pairs = Array.from({ length: raw.length / 2 }, (_, index): [string, string] => [
    (raw[2 * index] ?? "").toLowerCase(),
    raw[2 * index + 1] ?? "",
  ]);
  const named = pairs.filter(([name]) => name === "connection").map(([, value]) => value);
  const dropped = hopByHopNames(named.join(",")).add(OF_THE_HOST);
  const headers = new Headers();
  for (const [name, value] of pairs) {
    const passed = name === "set-cookie" ? outgoingCookie(value, connectorId) : value;
    if (passed !== undefined && !dropped.has(name)) headers.append(name, passed);
  }
  return headers;
}

//= rfc9110#7.6.1
function hopByHopNames(connection: string | null): Set<string> {
  const named = (connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  return new Set([...HOP_BY_HOP, ...named]);
}
