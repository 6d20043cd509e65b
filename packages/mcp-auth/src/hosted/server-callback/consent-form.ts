/** What the consent page's form carries, and what its token is about. Made by ask-consent.ts, checked by take-decision.ts. */
import type { Parameters } from "@oauth-broker/oauth-core";
import type { ServerClient } from "../clients/server-client.ts";

/** All of a request that is ever read. Whatever else was sent, a `decision` too, is not part of the page. */
const FIELDS = [
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "code_challenge",
  "code_challenge_method",
  "resource",
  "scope",
  "state",
] as const;

export function fieldsOf(parameters: Parameters): (readonly [name: string, value: string])[] {
  return FIELDS.flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/**
 * The form is about this very request and about what the page said: what was approved for one client is of no use to another, nor
 * to the same one under another name, with another way back or with more permissions.
 *
 * @param scope as shown: where the client names none it is the deployment's, which may change
 */
//= bar#AS-9
export function formOf(
  parameters: Parameters,
  { clientName, knownBy, redirectUris }: ServerClient,
  scope: readonly string[],
): string {
  return JSON.stringify(["consent", fieldsOf(parameters), clientName, knownBy, redirectUris, scope]);
}
