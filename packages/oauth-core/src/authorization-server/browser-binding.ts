/**
 * Ties a flow to the browser that started it: a random cookie per flow, its hash in the record (bar
 * CB-7). Per-flow names, so that two tabs work; `__Host-` on https, so that a sibling subdomain
 * cannot plant one.
 */
import { createHmac } from "node:crypto";
import { isSameText } from "../protocol/mac.ts";
import { randomToken } from "../protocol/secret.ts";
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
  return issuer.startsWith("https:") ? `__Host-flow-${flowId}` : `flow-${flowId}`;
}

/**
 * @returns the `set-cookie` header: HttpOnly, SameSite=Lax, for BINDING_SECONDS; Secure where the
 *   issuer is https
 */
//= rfc9700#4.7
export function setBindingCookie(issuer: string, flowId: string, value: string): Record<string, string> {
  return cookieHeader(issuer, flowId, value, BINDING_SECONDS);
}

/** @returns the `set-cookie` header that ends the flow's cookie */
export function clearBindingCookie(issuer: string, flowId: string): Record<string, string> {
  return cookieHeader(issuer, flowId, "", 0);
}

function cookieHeader(issuer: string, flowId: string, value: string, maxAgeSeconds: number): Record<string, string> {
  const secure = issuer.startsWith("https:") ? "; Secure" : "";
  const cookie = `${cookieName(issuer, flowId)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  return { "set-cookie": cookie };
}

/**
 * @param header the Cookie header as received; undefined where the browser holds no cookie of this
 *   flow
 */
export function readBindingCookie(
  header: string | undefined,
  issuer: string,
  flowId: string,
): BindingCookie | undefined {
  const name = `${cookieName(issuer, flowId)}=`;
  const pair = header?.split("; ").find((part) => part.startsWith(name));
  const value = pair?.slice(name.length) ?? "";
  // Only what we could have set: the value goes back into a header.
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
  return createHmac("sha256", value).update(what).digest("base64url");
}

/**
 * Whether a form carries the token that `formToken` gave for it and this browser. Compared in
 * constant time.
 */
export function isFormToken(sent: string | undefined, what: string, cookie: BindingCookie): boolean {
  return isSameText(sent, formToken(what, cookie));
}
