/** The token that the forms of the pages of links carry. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { isSameText, type Parameters } from "@oauth-broker/oauth-core/protocol";
import type { Trace } from "@oauth-broker/service/http";
import { derivedName } from "../records/server-key.ts";
import type { PagesDeps } from "./deps.ts";

type FormDeps = Pick<PagesDeps, "serverKey" | "settings" | "source">;

/**
 * The token of a form: an HMAC over its user and content. Not over the cookie: of two tabs that
 * sign in at once, the first's cookie is replaced, and its page still works.
 *
 * @param form the page, and what it showed
 * @param linkVersion that the page showed; 0 if it is of no link
 */
//= bar#AS-7
export async function formCsrf(
  user: string,
  form: readonly string[],
  linkVersion: number,
  deps: FormDeps,
): Promise<string> {
  const { settings, source } = deps;
  const of = [settings.deploymentUrl, source.vendor, source.issuer, user, form, linkVersion];
  return `${linkVersion}.${await derivedName("linking-form", of, deps)}`;
}

/** @returns the link version in a token of `formCsrf`; undefined for any other text */
export async function shownVersion(
  sent: string | undefined,
  user: string,
  form: readonly string[],
  deps: FormDeps,
): Promise<number | undefined> {
  const linkVersion = Number(/^(\d{1,15})\./.exec(sent ?? "")?.[1] ?? 0);
  return isSameText(sent, await formCsrf(user, form, linkVersion, deps)) ? linkVersion : undefined;
}

/**
 * @returns the link version that the page showed
 * @throws OAuthError for the 400 page: the form was not shown to this user
 */
export async function requireShown(
  form: Parameters,
  user: string,
  of: readonly string[],
  deps: FormDeps,
  trace: Trace,
): Promise<number> {
  const linkVersion = await shownVersion(form.get("csrf"), user, of, deps);
  if (linkVersion !== undefined) return linkVersion;
  trace.reason = "csrf";
  throw new OAuthError("invalid_request", "The page is too old, or was shown to another account: open it again", {
    reason: "csrf",
  });
}
