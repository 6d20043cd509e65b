/** Where a service is and what it believes, as its operator writes it: one line of text each. Used by what reads configuration. */
import { isIP } from "node:net";

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** An origin in canonical form: what is written must be what a URL parser gives back. A problem is the end of a sentence. */
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
