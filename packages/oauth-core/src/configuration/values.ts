/**
 * What an operator writes down for a service, one line of text each: where it is, whom it believes,
 * how it is called. Every check answers what is wrong as the end of a sentence (`must be …`), or
 * nothing.
 */
import { isIP } from "node:net";

/** A value, or what is wrong with it as the end of a sentence. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** An origin in canonical form: what is written must be what a URL parser gives back. */
//= rfc8414#2
export function parseOrigin(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    return { problem: "must be an absolute https URL" };
  if (url.username !== "" || url.password !== "") return { problem: "must not have user information" };
  if (text.includes("?") || text.includes("#")) return { problem: "must not have a query or a fragment" };
  if (url.pathname !== "/") return { problem: "must not have a path: the service owns the whole host" };
  if (text.endsWith("/")) return { problem: "must not end in a slash: clients compare the issuer byte for byte" };
  if (url.origin !== text) return { problem: "must be in canonical form: lower case, no default port" };
  if (url.protocol === "http:" && !isLoopbackName(url.hostname))
    return { problem: "must be https: http is for loopback only" };
  return { value: text };
}

/** A host that only this machine reaches. */
export function isLoopbackName(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** What is wrong with a network in CIDR notation, as the end of a sentence. */
export function checkCidr(value: string): string | undefined {
  const [, network = "", bits = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(value) ?? [];
  const family = isIP(network);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)
    ? undefined
    : "must be a network such as 10.20.0.0/16";
}

/** What a service may listen on. */
export function checkListenHost(value: string): string | undefined {
  return /^(?:[A-Za-z0-9.:_-]{1,253}|\[[0-9A-Fa-f:.]+\])$/.test(value)
    ? undefined
    : "must be an address or a host name without port";
}

/**
 * @returns what is wrong with it; undefined for an id of at most 64 lower case letters, digits and
 *   inner `-`
 */
export function checkVendorId(value: string): string | undefined {
  return /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(value)
    ? undefined
    : "must be a vendor id: lower case letters, digits and -";
}

/** Of clients of ours. */
export function checkClientId(value: string): string | undefined {
  return /^[A-Za-z0-9._~-]{1,128}$/.test(value) ? undefined : "has characters a client id must not have";
}

/** A name that users are shown. */
export function checkName(value: string): string | undefined {
  return /^\P{Cc}{1,100}$/u.test(value)
    ? undefined
    : "must have at most 100 characters, none of them a control character";
}

/** Ids and secrets that others issue: line breaks come from a badly pasted one. */
export function checkVisible(value: string): string | undefined {
  return /^[^\p{Cc}]{1,2048}$/u.test(value)
    ? undefined
    : "must have at most 2048 characters, none of them a control character";
}

/** In a list of origins: every one but `null`. */
export const ANY_ORIGIN = "*";
/** RFC 6454 §6.2: scheme, host and port alone. No wildcard, and not `null`. */
const SERIALIZED = /^([a-z][a-z0-9+.-]*):\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?)(?::\d{1,5})?$/;

/** Of http(s) as a URL parser writes it; of other schemes (extensions, desktop shells) as it is. */
export function isSerializedOrigin(text: string): boolean {
  const [, scheme] = SERIALIZED.exec(text) ?? [];
  if (scheme === "https" || scheme === "http") return URL.parse(text)?.origin === text;
  return scheme !== undefined && !["ftp", "ws", "wss", "file"].includes(scheme);
}

/** What is wrong with an entry of a list of origins, as the end of a sentence. */
export function checkAllowedOrigin(entry: string): string | undefined {
  return entry === ANY_ORIGIN || isSerializedOrigin(entry)
    ? undefined
    : "must be an origin such as https://app.example.com, in lower case, without path, slash at its end or default port; or *";
}

/**
 * Connections of one process at a time, where its configuration says nothing else, and the most it
 * may say.
 */
export const DEFAULT_MAX_CONNECTIONS = 2_000;
/** The most connections of one process that a configuration may permit. */
export const MOST_MAX_CONNECTIONS = 1_000_000;
