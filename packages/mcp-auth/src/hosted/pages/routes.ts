/** The routes of links, with several vendors only: their pages, and the callbacks of the vendors. */
import { pageRoute, readForm, readQuery, requireOwnPage, type Route } from "@oauth-broker/service/http";
import type { Context } from "hono";
import { callbackPath, PATHS } from "../../resource/paths.ts";
import { decideTicket, showTicket, type TicketRequest } from "./connect.ts";
import { changeConnections, showConnections } from "./connections.ts";
import type { PagesDeps } from "./deps.ts";
import { answerCallback } from "./flows.ts";

const LIMIT = { bodyBytes: 8_192 };

export function pageRoutes(deps: PagesDeps): Route[] {
  const { refused: title, link: label } = deps.presentation.texts.connections;
  // No application sent the browser to these pages, and no sign-in is under way.
  const refused = { title, back: { href: PATHS.connections, label } };
  const page = (...route: Parameters<typeof pageRoute>): Route => ({ ...pageRoute(...route), refused });
  const cookieOf = (c: Context): string | undefined => c.req.header("cookie");
  const ticketOf = (c: Context): TicketRequest => ({ value: c.req.param("ticket") ?? "", cookieHeader: cookieOf(c) });
  const form = async (c: Context) => {
    requireOwnPage(c.req.header("sec-fetch-site"));
    return readForm(c, LIMIT);
  };
  const others = [...deps.settings.links.vendors.keys()].filter((id) => id !== deps.settings.links.signIn);
  return [
    page("GET", `${PATHS.connect}/:ticket`, (c, trace) => showTicket(ticketOf(c), deps, trace)),
    page("POST", `${PATHS.connect}/:ticket`, async (c, trace) => decideTicket(ticketOf(c), await form(c), deps, trace)),
    page("GET", PATHS.connections, (c) => showConnections(new URL(c.req.url).searchParams, cookieOf(c), deps)),
    page("POST", PATHS.connections, async (c, trace) => changeConnections(await form(c), cookieOf(c), deps, trace)),
    ...others.map((id) =>
      pageRoute("GET", callbackPath(id), (c, trace) => {
        trace.vendor = id;
        const visit = { parameters: readQuery(c), cookieHeader: cookieOf(c), path: callbackPath(id) };
        return answerCallback(visit, deps, trace);
      }),
    ),
  ];
}
