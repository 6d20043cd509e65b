/**
 * What a URL must look like before we connect to it or send a browser to it. Looks at the text
 * only: the address behind a name is checked at connection time, in guarded-connection.ts.
 */
import { isIP } from "node:net";
import { OAuthError } from "../protocol/errors.ts";
import { createCidrMatcher, isLoopbackAddress, isPrivateName, isPublicAddress } from "./address-ranges.ts";

export interface EgressUrlOptions {
  /** Also http, and any port, on 127.0.0.0/8, ::1 and `localhost`. */
  readonly allowLoopback: boolean;
  /**
   * For operator configuration only: any name and https port passes, and is checked against these
   * networks at connection time.
   */
  readonly allowCidrs?: readonly string[];
  /** Any https port: for a URL that the operator wrote down. */
  readonly anyPort?: boolean;
}

/** Whether the operator wrote down a URL at this host: then any https port of it may be asked. */
export type OperatorsHosts = (hostname: string) => boolean;

export interface EgressUrlRules {
  readonly allowLoopback: boolean;
  readonly isOperatorsHost?: OperatorsHosts;
  /** Set only if the operator named private networks. */
  readonly isAllowedNetwork?: (address: string) => boolean;
}

const PROBLEM = {
  syntax: "must be an absolute https URL in plain ASCII, without user name, fragment or unusual host spelling",
  scheme: "must use https",
  port: "must use port 443",
  host: "must name a host of the public internet",
} as const;

export type UrlFault = keyof typeof PROBLEM;

/**
 * Scheme, authority, and only the characters of rfc3986#2: no white space, control characters, `\`,
 * non-ASCII, `@` in the authority, or `#`.
 */
const PLAIN_URL = /^https?:\/\/([a-z0-9._:[\]-]+)(?:[/?][\w.~:/?[\]@!$&'()*+,;=%-]*)?$/i;

/**
 * The static check for endpoints, in configuration, request parameters and metadata.
 *
 * @returns the parsed URL, whose `href` is what may be used
 * @throws OAuthError invalid_request, without echoing the URL
 */
//= bar#EG-7
//= bar#DI-2
export function requireEgressUrl(url: string, options: EgressUrlOptions): URL {
  const problem = checkEgressUrl(url, options);
  if (problem === undefined) return new URL(url);
  throw new OAuthError("invalid_request", `An endpoint ${problem}`, { reason: "endpoint_forbidden" });
}

/** The same check, for a list of problems: the end of a sentence, or undefined when it passes. */
export function checkEgressUrl(url: string, options: EgressUrlOptions): string | undefined {
  const parsed = parseEgressUrl(url);
  const fault = parsed === undefined ? "syntax" : urlFault(parsed, egressUrlRules(options));
  return fault && PROBLEM[fault];
}

/**
 * Parses a URL that has only one reading; otherwise `undefined`. The parser forgives and rewrites
 * many spellings that attacks use.
 */
export function parseEgressUrl(url: string): URL | undefined {
  const [, authority] = (url.length <= 2048 && PLAIN_URL.exec(url)) || [];
  const parsed = authority === undefined ? null : URL.parse(url);
  //= bar#EG-1
  return authority !== undefined && parsed !== null && isCanonicalAuthority(authority, parsed) ? parsed : undefined;
}

/** @throws Error when a network is malformed */
export function egressUrlRules({ allowLoopback, allowCidrs = [], anyPort }: EgressUrlOptions): EgressUrlRules {
  return {
    allowLoopback,
    ...(allowCidrs.length === 0 ? {} : { isAllowedNetwork: createCidrMatcher(allowCidrs) }),
    ...(anyPort === true ? { isOperatorsHost: () => true } : {}),
  };
}

const HTTPS_HOST = /^https:\/\/([^/?#:[\]@]+|\[[^\]]*\])/i;

/**
 * @param urls that the operator wrote down. A {placeholder} in a host is one label, which cannot
 *   contain another host
 */
export function operatorsHosts(urls: readonly string[]): OperatorsHosts {
  const hosts = new Set(urls.flatMap((url) => HTTPS_HOST.exec(url)?.[1]?.toLowerCase() ?? []));
  const patterns = [...hosts]
    .filter((host) => /\{.*\..*[a-z]/.test(host) && !/^\{[^{}]*\}\.?[^.]*$/.test(host))
    .map((host) => new RegExp(`^${host.replaceAll(".", "\\.").replaceAll(/\{[^{}]*\}/g, "[a-z0-9-]+")}$`));
  return (hostname) => hosts.has(hostname) || patterns.some((pattern) => pattern.test(hostname));
}

/** The same rules on a URL that is already parsed; `undefined` when it passes. */
export function urlFault(
  url: URL,
  { allowLoopback, isAllowedNetwork, isOperatorsHost }: EgressUrlRules,
): UrlFault | undefined {
  if (url.username !== "" || url.password !== "" || url.hash !== "" || url.hostname.length > 253) return "syntax";
  const host = bareHost(url);
  if (allowLoopback && isLoopbackHost(host) && url.protocol === "http:") return undefined;
  //= bar#EG-7
  if (url.protocol !== "https:") return "scheme";
  if (allowLoopback && isLoopbackHost(host)) return undefined;
  const isName = isIP(host) === 0;
  if (isAllowedNetwork !== undefined && (isName || isAllowedNetwork(host))) return undefined;
  //= bar#EG-7
  if (url.port !== "" && isOperatorsHost?.(url.hostname) !== true) return "port";
  return (isName ? !isPrivateName(host) : isPublicAddress(host)) ? undefined : "host";
}

/** The host without the brackets of an IPv6 literal. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

/**
 * The hosts `allowLoopback` is about: loopback literals and `localhost`, not names that happen to
 * resolve there.
 */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

/**
 * `2130706433`, `0x7f.1`, `127.1`, `%31`, an empty port: the parser reads these differently from
 * how they are written.
 */
//= bar#EG-1
function isCanonicalAuthority(authority: string, url: URL): boolean {
  const written = authority.toLowerCase();
  return written === url.host || (url.port === "" && written === `${url.host}:${url.protocol === "https:" ? 443 : 80}`);
}
