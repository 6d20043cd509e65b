/** Checks the session and the form token: the first lines of every route. */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import { isFormToken } from "@oauth-broker/oauth-core/authorization-server";
import { pageRoute, readForm, requireOwnPage, type Route } from "@oauth-broker/service/http";
import type { Context } from "hono";
import type { Connector } from "../connectors/connector.ts";
import type { SignedIn } from "../users/session.ts";
import type { PageDeps } from "./deps.ts";

const LIMIT = { bodyBytes: 65_536 };

/** @throws OAuthError invalid_request 403, reason `not_signed_in` or `form_refused` */
export async function requireForm(c: Context, { sessions }: Pick<PageDeps, "sessions">) {
  const session = await sessions.find(c.req.header("cookie"));
  if (session === undefined) throw forbidden("not_signed_in", "No user is signed in. Choose a user first");
  return { session, fields: await readOwnForm(c, session.cookie) };
}

/** @throws OAuthError as requireForm, for a browser without a session cookie */
export async function requireGreetedForm(c: Context, { sessions }: Pick<PageDeps, "sessions">): Promise<Parameters> {
  return readOwnForm(c, sessions.cookieOf(c.req.header("cookie")));
}

async function readOwnForm(c: Context, cookie: SignedIn["cookie"] | undefined): Promise<Parameters> {
  requireOwnPage(c.req.header("sec-fetch-site"));
  const fields = await readForm(c, LIMIT);
  if (cookie !== undefined && isFormToken(fields.get("csrf"), c.req.path, cookie)) return fields;
  throw forbidden("form_refused", "This form was not shown to this browser. Open its page again");
}

/** @throws OAuthError not_found */
export async function requireConnector(c: Context, { connectors }: Pick<PageDeps, "connectors">): Promise<Connector> {
  const connector = await connectors.find(c.req.param("id") ?? "");
  if (connector === undefined) throw new OAuthError("not_found", "This connector does not exist");
  return connector;
}

/** A page for users: other visitors choose a user first. */
export function userPage(
  path: string,
  { sessions }: Pick<PageDeps, "sessions">,
  answer: (session: SignedIn, c: Context) => Promise<Answer>,
): Route {
  return pageRoute("GET", path, async (c) => {
    const session = await sessions.find(c.req.header("cookie"));
    return session === undefined ? redirectAnswer("/") : answer(session, c);
  });
}

export type PostedToConnector = Awaited<ReturnType<typeof requireForm>> & { readonly connector: Connector };

/** A form on a page of a connector: answered only for the browser that it was shown to. */
export function connectorForm(
  path: string,
  deps: Pick<PageDeps, "sessions" | "connectors">,
  answer: (posted: PostedToConnector, c: Context) => Promise<Answer>,
): Route {
  return pageRoute("POST", `/connectors/:id/${path}`, async (c) => {
    const posted = await requireForm(c, deps);
    return answer({ ...posted, connector: await requireConnector(c, deps) }, c);
  });
}

/** @throws OAuthError invalid_request 403 */
export function requireAdministrator({ user }: SignedIn): void {
  if (!user.isAdministrator) throw forbidden("not_administrator", "Settings are for administrators");
}

function forbidden(reason: string, description: string): OAuthError {
  return new OAuthError("invalid_request", description, { reason, status: 403 });
}
