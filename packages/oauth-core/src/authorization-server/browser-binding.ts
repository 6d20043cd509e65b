/**
 * Binds a request to the browser it comes from: a random cookie whose hash is in a record, and form
 * tokens derived from it. Each flow has its own cookie (bar CB-7), so that two tabs work; a
 * platform's session has one per browser. Pages without passwords also check the host name of the
 * request.
 */
import { hmac } from "../protocol/mac.ts";
import { isSameText, randomToken } from "../protocol/secret.ts";
import { hashOf } from "./handle.ts";

/** The cookie's value, and its hash, which is all the record holds. */
export interface BindingCookie {
  readonly value: string;
  readonly hash: string;
}

/** The longest a flow waits for its user at the vendor, in seconds. */
export const BINDING_SECONDS = 600;

/** A cookie value of 32 random bytes, as 43 characters of base64url, and its hash. */
export function createBindingCookie(): BindingCookie {
  return bindingCookie(randomToken(32));
}

const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

function bindingCookie(value: string): BindingCookie {
  return { value, hash: hashOf(value) };
}

function cookieName(issuer: string, flowId: string): string {
  //= bar#CB-7
  return issuer.startsWith("https:") ? `__Host-flow-${flowId}` : `flow-${flowId}`;
}

/**
 * @returns the `set-cookie` header: HttpOnly, SameSite=Lax, for BINDING_SECONDS; Secure if the
 *   issuer is https
 */
//= rfc9700#4.7
export function setBindingCookie(issuer: string, flowId: string, value: string): Record<string, string> {
  return { "set-cookie": formatCookie(cookieName(issuer, flowId), value, BINDING_SECONDS) };
}

/** @returns the `set-cookie` header that ends the flow's cookie */
export function clearBindingCookie(issuer: string, flowId: string): Record<string, string> {
  return { "set-cookie": formatCookie(cookieName(issuer, flowId), "", 0) };
}

/** More sign-ins than a user has under way: a page that navigates a victim's browser starts these. */
const MOST_FLOW_COOKIES = 20;
/** Proxies bound the headers of a response. The next one ends more. */
const MOST_ENDED = 20;
/** Browsers send a space; what joins headers in between may not. */
const BETWEEN_COOKIES = /; ?/;
const FLOW_COOKIE = /^((?:__Host-)?flow-[A-Za-z0-9._~-]{1,200})=/;

/**
 * Ends the oldest flow cookies of a browser that holds too many: their headers would grow until no
 * request of the browser is accepted.
 *
 * @param header the Cookie header as received: browsers send the oldest of a path first
 * @returns values of Set-Cookie, none for up to 20 cookies of flows
 */
export function endSurplusCookies(header: string): readonly string[] {
  const pairs = header.split(BETWEEN_COOKIES);
  if (pairs.length <= MOST_FLOW_COOKIES) return [];
  const names = pairs.flatMap((pair) => FLOW_COOKIE.exec(pair)?.[1] ?? []);
  const surplus = Math.min(Math.max(0, names.length - MOST_FLOW_COOKIES), MOST_ENDED);
  return names.slice(0, surplus).map((name) => formatCookie(name, "", 0));
}

/**
 * @param name `__Host-…` on https, so that a sibling subdomain cannot plant one
 * @param maxAgeSeconds 0 ends it
 * @returns the value of Set-Cookie, kept from scripts and from forms of other sites
 */
export function formatCookie(name: string, value: string, maxAgeSeconds: number): string {
  const secure = name.startsWith("__Host-") ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * @param header the Cookie header as received
 * @returns undefined when the browser holds no cookie of this flow
 */
export function readBindingCookie(
  header: string | undefined,
  issuer: string,
  flowId: string,
): BindingCookie | undefined {
  return readCookie(header, cookieName(issuer, flowId));
}

/**
 * @param header the Cookie header as received
 * @returns undefined if the browser holds no cookie of this name that we could have set
 */
export function readCookie(header: string | undefined, name: string): BindingCookie | undefined {
  const pair = header?.split(BETWEEN_COOKIES).find((part) => part.startsWith(`${name}=`));
  const value = pair?.slice(name.length + 1) ?? "";
  // The value goes back into a header.
  //= bar#CB-7
  return COOKIE_VALUE.test(value) ? bindingCookie(value) : undefined;
}

/**
 * The token a form carries to prove that we rendered it for this browser: an HMAC keyed with the
 * cookie, which no script can read. Nothing is stored, and reloading the page gives the same token.
 *
 * @param what identifies the form and everything it covers
 * @returns 43 base64url characters, which do not reveal the cookie
 */
export function formToken(what: string, { value }: BindingCookie): string {
  return hmac("sha256", Buffer.from(value), what).toString("base64url");
}

/**
 * Whether a form carries the token that `formToken` gave for it and this browser. Compared in
 * constant time.
 */
export function isFormToken(sent: string | undefined, what: string, cookie: BindingCookie): boolean {
  //= bar#XA-9
  //= bar#AS-7
  return isSameText(sent, formToken(what, cookie));
}

/**
 * Whether a request is addressed to this app by name. An attacker whose host name resolves to
 * loopback could otherwise read pages that have no passwords there: to the browser the attacker's
 * script and our pages would have one origin.
 */
export function isOwnHost(requestUrl: string, ownUrl: string): boolean {
  return new URL(requestUrl).host === new URL(ownUrl).host;
}
