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
  const { links } = deps.settings;
  const others = [...links.vendors.keys()].filter((id) => id !== links.signIn);
  return [
    page("GET", `${PATHS.connect}/:ticket`, (c, trace) => showTicket(ticketOf(c), deps, trace)),
    page("POST", `${PATHS.connect}/:ticket`, async (c, trace) => decideTicket(ticketOf(c), await form(c), deps, trace)),
    page("GET", PATHS.connections, (c) => showConnections(new URL(c.req.url).searchParams, cookieOf(c), deps)),
    page("POST", PATHS.connections, async (c, trace) => changeConnections(await form(c), cookieOf(c), deps, trace)),
    ...others.map((id) => {
      const path = callbackPath(id, links);
      return pageRoute("GET", path, (c, trace) => {
        trace.vendor = id;
        return answerCallback({ parameters: readQuery(c), cookieHeader: cookieOf(c), path }, deps, trace);
      });
    }),
  ];
}
