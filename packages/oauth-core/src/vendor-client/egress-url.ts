/**
 * What a URL must look like before we would ever connect to it, or send a browser to it. Looks at text only: which address
 * a name leads to is judged at connection time, in egress-connector.ts. Callers: configuration, request parameters,
 * vendor metadata, and egress.ts itself on every call.
 */
import { isIP } from "node:net";
import { OAuthError } from "../protocol/errors.ts";
import { createCidrMatcher, isLoopbackAddress, isPrivateName, isPublicAddress } from "./addresses.ts";

export interface EgressUrlRules {
  /** Also http, and any port, on 127.0.0.0/8, ::1 and `localhost`. */
  readonly allowLoopback: boolean;
  /** Operator configuration only: private names and any https port pass here, and are held to these networks at connection time. */
  readonly allowCidrs?: readonly string[];
}

const REFUSED = {
  syntax: "An endpoint must be an absolute https URL in plain ASCII, without user name, fragment or unusual host spelling",
  scheme: "An endpoint must use https",
  port: "An endpoint must use port 443",
  host: "An endpoint must name a host of the public internet",
} as const;

export type UrlFault = keyof typeof REFUSED;

/** Scheme, authority, rest: no white space, control characters, backslashes, non-ASCII, `@` in the authority, or `#`. */
const PLAIN_URL = /^(https?):\/\/([a-z0-9._:[\]-]+)(?:[/?][!$-[\]-~]*|[/?]["!$-[\]-~]*)?$/i;

/**
 * The static check for endpoints, in configuration, request parameters and metadata.
 *
 * @returns the parsed URL, whose `href` is what may be used
 * @throws OAuthError invalid_request, without echoing the URL
 */
//= bar#EG-7
//= bar#DI-2
export function requireEgressUrl(url: string, rules: EgressUrlRules): URL {
  const [, , authority = ""] = (url.length <= 2048 && PLAIN_URL.exec(url)) || [];
  const parsed = authority === "" ? null : URL.parse(url);
  const fault = parsed === null || !isCanonicalAuthority(authority, parsed) ? "syntax" : urlFault(parsed, rules);
  if (parsed === null || fault !== undefined) {
    throw new OAuthError("invalid_request", REFUSED[fault ?? "syntax"], { reason: "endpoint_forbidden" });
  }
  return parsed;
}

/** The same rules on a URL that is already parsed; `undefined` when it passes. */
export function urlFault(url: URL, { allowLoopback, allowCidrs = [] }: EgressUrlRules): UrlFault | undefined {
  if (url.username !== "" || url.password !== "" || url.hash !== "" || url.hostname.length > 253) return "syntax";
  const host = bareHost(url);
  if (allowLoopback && isLoopbackHost(host)) return url.protocol === "https:" || url.protocol === "http:" ? undefined : "scheme";
  if (url.protocol !== "https:") return "scheme";
  if (allowCidrs.length > 0) {
    const isAddress = isIP(host) !== 0;
    if (!isAddress || createCidrMatcher(allowCidrs)(host)) return undefined;
  }
  if (url.port !== "") return "port";
  const isPublic = isIP(host) === 0 ? !isPrivateName(host) : isPublicAddress(host);
  return isPublic ? undefined : "host";
}

/** The host without the brackets of an IPv6 literal. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

/** The hosts `allowLoopback` is about: loopback literals and `localhost`, not names that happen to resolve there. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

/** `2130706433`, `0x7f.1`, `127.1`, `%31`, an empty port: the parser reads them as something else than what is written. */
//= bar#EG-1
function isCanonicalAuthority(authority: string, url: URL): boolean {
  const written = authority.toLowerCase();
  return written === url.host || (url.port === "" && written === `${url.host}:${url.protocol === "https:" ? 443 : 80}`);
}
