/** Refresh and Revoke, on the page of a connector without a server: what came of it is shown there. */
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import type { Route } from "@oauth-broker/service/http";
import { html, type Markup } from "@oauth-broker/service/page";
import { clientOfConnector } from "../oauth/client-of-connector.ts";
import { describeFailure } from "../oauth/connect.ts";
import type { OpenConnection } from "../oauth/connections.ts";
import { alert, statusNotice } from "../pages/layout.ts";
import { failureNotice } from "../pages/status.ts";
import type { PageDeps } from "./deps.ts";
import { connectorForm, type PostedToConnector } from "./guard.ts";
import { showConnector } from "./pages.ts";

interface Held extends PostedToConnector {
  readonly open: OpenConnection;
}

export function tokenRoutes(deps: PageDeps): Route[] {
  const onTokens = (path: string, act: (held: Held, deps: PageDeps) => Promise<Markup>): Route =>
    connectorForm(path, deps, async (posted, c) => {
      const { session, connector } = posted;
      const open = await deps.connections.open(connector, session.user.id);
      if (open === undefined) return showConnector(c, deps, session);
      const notice = await act({ ...posted, open }, deps).catch((error: unknown) =>
        failureNotice({ ...describeFailure(error), at: deps.now() }),
      );
      return showConnector(c, deps, session, notice);
    });
  return [onTokens("refresh", refresh), onTokens("revoke", revoke)];
}

async function refresh({ connector, session, open }: Held, { bearers, connections }: PageDeps): Promise<Markup> {
  const userId = session.user.id;
  const { accessToken: token, refreshToken = "" } = open.tokens;
  await bearers.bearerFor(connector, userId, { token, revision: open.revision });
  const kept = await connections.open(connector, userId);
  const isSame = isSameText(kept?.tokens.refreshToken ?? "", refreshToken);
  const rotated = isSame ? "" : ", and the vendor rotated the refresh token";
  return statusNotice(`Refreshed: a new access token arrived${rotated}.`);
}

/** The tokens stay, so that the user can try what they still open. */
async function revoke({ connector, session, open, fields }: Held, deps: PageDeps): Promise<Markup> {
  const which = fields.get("token") === "refresh_token" ? "refresh_token" : "access_token";
  const answer = await (await clientOfConnector(connector, deps)).revoke(open.tokens, which);
  if (answer.outcome === "unsupported")
    return alert(answer.help, html`<p class="quiet">Error <code>unsupported_token_type</code></p>`);
  await deps.connections.noteRevoked(connector, session.user.id, open.revision);
  const next =
    which === "refresh_token" || answer.revoked === "grant"
      ? "Try Refresh now: the vendor will refuse it."
      : "At some vendors the refresh token lives on: try Refresh now.";
  return statusNotice(`Revoked at the vendor (${answer.revoked}). ${next}`);
}
