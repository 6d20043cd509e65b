/**
 * Scope strings to lists and back. Requests come through here at /v1/par, /authorize and /token;
 * vendors get their own separator.
 */
import { OAuthError } from "./errors.ts";

const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Whether a text is one scope token. */
//= rfc6749#3.3
export function isScopeToken(text: string): boolean {
  return SCOPE_TOKEN.test(text);
}

/**
 * @param value space-separated scope tokens; several spaces count as one
 * @returns the tokens in the order given, without duplicates; an empty list for an empty value
 * @throws OAuthError invalid_scope for control characters, quotes, backslashes and anything that is
 *   not ASCII
 */
export function parseScope(value: string): string[] {
  const tokens = value.split(" ").filter((token) => token !== "");
  //= bar#ST-5
  if (!tokens.every(isScopeToken))
    throw new OAuthError("invalid_scope", "scope contains characters that are not allowed");
  return [...new Set(tokens)];
}

/** @param separator what the receiver expects between tokens; the standard's is a space */
export function formatScope(scope: readonly string[], separator = " "): string {
  return scope.join(separator);
}

const MOST_NAMED = 5;
const LONGEST_NAMED = 64;

/**
 * Scope tokens in a sentence: the first few, each cut, so that its reader sees which are meant.
 *
 * @param scope of a request, not empty
 */
export function namedScopes(scope: readonly string[]): string {
  const named = scope
    .slice(0, MOST_NAMED)
    .map((token) => (token.length > LONGEST_NAMED ? `${token.slice(0, LONGEST_NAMED)}...` : token));
  const rest = scope.length - named.length;
  return `the scope ${named.join(" ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** Whether every token of `scope` is one of `of`. */
export function isSubset(scope: readonly string[], of: readonly string[]): boolean {
  return scope.every((token) => of.includes(token));
}
