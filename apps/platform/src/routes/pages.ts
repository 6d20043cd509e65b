/**
 * The pages that any visitor or any user may open: the chooser of users, the connectors, one
 * connector.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import { type Answer, formPageAnswer, pageAnswer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import { faviconRoute, pageRoute, type Route } from "@oauth-broker/service/http";
import { html, type Markup, STYLE_HASH } from "@oauth-broker/service/page";
import type { Context } from "hono";
import type { Connector } from "../connectors/connector.ts";
import type { ConnectionStatus } from "../oauth/connections.ts";
import { callbackWarning } from "../oauth/redirect-uri.ts";
import { connectorPage, connectorsPage } from "../pages/connectors.ts";
import { legsPanel } from "../pages/legs.ts";
import { signInPage } from "../pages/sign-in.ts";
import { tokensPanel } from "../pages/tokens.ts";
import type { SignedIn } from "../users/session.ts";
import { findUser, USERS } from "../users/users.ts";
import type { PageDeps } from "./deps.ts";
import { requireConnector, requireForm, requireGreetedForm, userPage } from "./guard.ts";

export function pageRoutes(deps: PageDeps): Route[] {
  const { sessions, connectors, connections } = deps;
  return [
    faviconRoute,
    pageRoute("GET", "/", async (c) => {
      const header = c.req.header("cookie");
      if ((await sessions.find(header)) !== undefined) return redirectAnswer("/connectors");
      const known = sessions.cookieOf(header);
      const { cookie, setCookie } = known === undefined ? sessions.greet() : { cookie: known, setCookie: undefined };
      return pageAnswer(200, signInPage(USERS, cookie), STYLE_HASH, defined({ "set-cookie": setCookie }));
    }),
    pageRoute("POST", "/sign-in", async (c) => {
      const user = findUser((await requireGreetedForm(c, deps)).get("user"));
      if (user === undefined) throw new OAuthError("invalid_request", "This user does not exist");
      return redirectAnswer("/connectors", { "set-cookie": await sessions.signIn(user) });
    }),
    pageRoute("POST", "/sign-out", async (c) => {
      const { session } = await requireForm(c, deps);
      return redirectAnswer("/", { "set-cookie": await sessions.signOut(session) });
    }),
    userPage("/connectors", deps, async (session) => {
      const all = await connectors.list();
      const listed = await Promise.all(
        all.map(async (connector) => ({ connector, status: await connections.status(connector, session.user.id) })),
      );
      return pageAnswer(200, connectorsPage(listed, session), STYLE_HASH);
    }),
    userPage("/connectors/:id", deps, (session, c) => showConnector(c, deps, session)),
  ];
}

async function tokensOf(
  connector: Connector,
  { flow }: ConnectionStatus,
  session: SignedIn,
  { connections, timeline, now }: PageDeps,
): Promise<Markup> {
  const open = await connections.open(connector, session.user.id);
  const legs = flow?.id === undefined ? [] : ((await timeline?.(flow.id).catch(() => [])) ?? []);
  return html`${open === undefined ? undefined : tokensPanel(connector, { ...open, now: now() }, session)}
${flow === undefined ? undefined : legsPanel(connector, { flow, legs, hasIdToken: open?.tokens.vendorIdToken !== undefined })}`;
}

export async function showConnector(c: Context, deps: PageDeps, session: SignedIn, notice?: Markup): Promise<Answer> {
  const connector = await requireConnector(c, deps);
  const status = await deps.connections.status(connector, session.user.id);
  const tokens = connector.withoutServer && (await tokensOf(connector, status, session, deps));
  // Connect redirects on to the vendor's own hosts.
  const warning = callbackWarning(connector, deps.platformUrl);
  return formPageAnswer(connectorPage({ connector, status, warning, tokens }, session, notice), STYLE_HASH, {});
}
