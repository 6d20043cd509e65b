/** Connect, the callback at the redirect URI of the connector, and Disconnect. */
import { redirectAnswer } from "@oauth-broker/oauth-core/http";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { pageRoute, type Route } from "@oauth-broker/service/http";
import type { AskedPlaceholder, Connector } from "../connectors/connector.ts";
import { describeFailure, finishConnect, startConnect } from "../oauth/connect.ts";
import { disconnect } from "../oauth/disconnect.ts";
import { OWN_CALLBACK, SHARED_CALLBACK } from "../oauth/redirect-uri.ts";
import { refusal } from "../refusal.ts";
import { disconnectedNotice, inputNameOf } from "../pages/connectors.ts";
import type { PageDeps } from "./deps.ts";
import { connectorForm } from "./guard.ts";
import { showConnector } from "./pages.ts";

/** An input that was left empty keeps the value that is offered. */
function readPlaceholders({ withoutServer }: Connector, fields: Parameters): Readonly<Record<string, string>> {
  const asked = withoutServer?.asked ?? [];
  const valueOf = (one: AskedPlaceholder): string => {
    const typed = fields.get(inputNameOf(one))?.trim() ?? "";
    return typed === "" ? one.value : typed;
  };
  return Object.fromEntries(asked.map((one) => [one.name, valueOf(one)]));
}

export function connectRoutes(deps: PageDeps): Route[] {
  return [
    connectorForm("connect", deps, async ({ session, fields, connector }) => {
      try {
        return redirectAnswer(await startConnect(connector, session, deps, readPlaceholders(connector, fields)));
      } catch (error) {
        const failure = { ...describeFailure(error), at: deps.now() };
        await deps.connections.recordFailure(connector, session.user.id, failure);
        return redirectAnswer(`/connectors/${connector.id}`);
      }
    }),
    ...[SHARED_CALLBACK, OWN_CALLBACK].map((path) =>
      pageRoute("GET", path, async (c, trace) => {
        const session = await deps.sessions.find(c.req.header("cookie"));
        if (session === undefined) {
          throw refusal("not_signed_in", "No user is signed in in this browser. Choose a user and connect again");
        }
        const { connectorId, failure } = await finishConnect(c.req.url, session, deps);
        if (failure !== undefined) trace.reason = failure.error;
        return redirectAnswer(`/connectors/${connectorId}`);
      }),
    ),
    connectorForm("disconnect", deps, async ({ session, connector }, c) => {
      const outcome = await disconnect(connector, session.user.id, deps);
      return showConnector(c, deps, session, disconnectedNotice(outcome));
    }),
  ];
}
