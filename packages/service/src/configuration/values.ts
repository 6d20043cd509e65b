/**
 * Checks of single configuration values: addresses, trusted networks, names. Every check returns
 * what is wrong as the end of a sentence (`must be …`), or undefined.
 */
import { isIP } from "node:net";
import { matching, type PatternCheck } from "@oauth-broker/oauth-core";

/** A value, or what is wrong with it as the end of a sentence. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** The regular expression of a check, for a JSON Schema; undefined for a check by other means. */
export function patternOf(check: ((value: string) => string | undefined) | undefined): string | undefined {
  return check !== undefined && "pattern" in check ? (check as PatternCheck).pattern.source : undefined;
}

/** Returns what is wrong with an origin: it must equal what a URL parser serialises. */
//= rfc8414#2
export function checkOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return "must be an absolute https URL";
  if (url.username !== "" || url.password !== "") return "must not have user information";
  if (text.includes("?") || text.includes("#")) return "must not have a query or a fragment";
  if (url.pathname !== "/") return "must not have a path: the service owns the whole host";
  if (text.endsWith("/")) return "must not end in a slash: clients compare the issuer byte for byte";
  if (url.hostname.endsWith(".")) return "must not end its host in a dot";
  if (url.origin !== text) return "must be in canonical form: lower case, no default port, no white space";
  if (url.protocol === "http:" && !isLoopbackName(url.hostname)) return "must be https: http is for loopback only";
  return undefined;
}

/** A host that only this machine can reach. */
export function isLoopbackName(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Returns what is wrong with a network in CIDR notation, as the end of a sentence. */
export function checkCidr(value: string): string | undefined {
  const [, network = "", bits = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(value) ?? [];
  const family = isIP(network);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)
    ? undefined
    : "must be a network such as 10.20.0.0/16";
}

/** A host that a service may listen on. What has one colon is a host with its port. */
export const checkListenHost: PatternCheck = matching(
  /^(?:[A-Za-z0-9._-]{1,253}|(?=[^:]*:[^:]*:)[0-9A-Fa-f:.]{2,45}|\[[0-9A-Fa-f:.]+\])$/,
  "must be an address or a host name without port",
);

/** At most 64 lower case letters, digits and inner `-`. */
export const checkVendorId: PatternCheck = matching(
  /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
  "must be a vendor id: lower case letters, digits and -",
);

/** The id of one of our clients. */
export const checkClientId: PatternCheck = matching(
  /^[A-Za-z0-9._~-]{1,128}$/,
  "has characters a client id must not have",
);

/** A name that is shown to users. */
export const checkName: PatternCheck = matching(
  /^\P{Cc}{1,100}$/u,
  "must have at most 100 characters, none of them a control character",
);

/** Ids and secrets issued by others: a line break comes from a bad paste. */
export const checkVisible: PatternCheck = matching(
  /^[^\p{Cc}]{1,2048}$/u,
  "must have at most 2048 characters, none of them a control character",
);

/** An entry of an origin list: any origin except `null`. */
export const ANY_ORIGIN = "*";
/** RFC 6454 §6.2: scheme, host and port alone. No wildcard, and not `null`. */
const SERIALIZED = /^([a-z][a-z0-9+.-]*):\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?)(?::\d{1,5})?$/;

/**
 * An http(s) origin must be serialised as a URL parser does; other schemes (extensions, desktop
 * apps) are taken as written.
 */
export function isSerializedOrigin(text: string): boolean {
  const [, scheme] = SERIALIZED.exec(text) ?? [];
  if (scheme === "https" || scheme === "http") return URL.parse(text)?.origin === text;
  return scheme !== undefined && !["ftp", "ws", "wss", "file"].includes(scheme);
}

/** Returns what is wrong with an entry of an origin list, as the end of a sentence. */
export function checkAllowedOrigin(entry: string): string | undefined {
  return entry === ANY_ORIGIN || isSerializedOrigin(entry)
    ? undefined
    : "must be an origin such as https://app.example.com, in lower case, without path, slash at its end or default port; or *";
}

/** Concurrent connections of one process that a configuration may permit, and the default. */
export const CONNECTIONS = { least: 1, most: 1_000_000, usual: 2_000 } as const;
/**
 * How long a connection may be idle between two requests, in seconds. Load balancers keep idle
 * connections for 60 s, and use one that ends just then.
 */
export const IDLE_SECONDS = { least: 1, most: 600, usual: 65 } as const;

/**
 * The `customTags` of the package yaml for a file of variables: a number in it is the text that was
 * written. The client id `0123456789.1234567890` loses digits if it becomes a number.
 */
export function withoutNumbers<Tag extends string | { readonly tag: string }>(tags: readonly Tag[]): Tag[] {
  return tags.filter((tag) => typeof tag === "string" || !/:(?:int|float)$/.test(tag.tag));
}
