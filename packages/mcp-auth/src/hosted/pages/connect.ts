/**
 * `/connect/<ticket>`: the page on which a user answers what a tool asked. Looking spends nothing,
 * so that link previews do no harm; the decision spends the ticket by one conditional write.
 */
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { Trace } from "@oauth-broker/service/http";
import { readDecision } from "../authorization/request.ts";
import type { ServerClient } from "../clients/client.ts";
import { PATHS } from "../../resource/paths.ts";
import { atVendor, linkKey } from "../links/link.ts";
import { visitorOf } from "./connections.ts";
import type { PagesDeps } from "./deps.ts";
import { formCsrf, requireShown } from "./form-token.ts";
import { connectionsUrl, linkScopes, startLink, startSignIn } from "./flows.ts";
import { connectPage, foreignPage, gonePage } from "./markup.ts";
import { isOfUser, type SignedIn } from "./sign-ins.ts";
import type { OpenTicket } from "../tickets/tickets.ts";

export interface TicketRequest {
  /** As in the path, of any form. */
  readonly value: string;
  readonly cookieHeader: string | undefined;
}

export async function showTicket(request: TicketRequest, deps: PagesDeps, trace: Trace): Promise<Answer> {
  const visit = await visitTicket(request, deps, trace);
  if ("answer" in visit) return visit.answer;
  const { signedIn, ticket, client } = visit;
  const at = atVendor(ticket.vendor, deps);
  const { stored, linkVersion } = await deps.tokens.readLink(linkKey(ticket.user, at));
  return connectPage({
    visitor: await visitorOf(signedIn, deps),
    ticket: request.value,
    client,
    vendor: ticket.vendor,
    vendorName: at.settings.vendor.vendor.name,
    scope: linkScopes(ticket.scopes, ticket.vendor, deps),
    linked: typeof stored === "object" ? stored.tokens.link?.label?.reveal() : undefined,
    csrf: await formCsrf(ticket.user, ["ticket", ticket.id], linkVersion, deps),
  });
}

/** @throws OAuthError for the 400 page of a form that was not shown to this user */
export async function decideTicket(
  request: TicketRequest,
  form: Parameters,
  deps: PagesDeps,
  trace: Trace,
): Promise<Answer> {
  // 1. an open ticket of the user who is signed in here
  const visit = await visitTicket(request, deps, trace);
  if ("answer" in visit) return visit.answer;
  const { signedIn, ticket } = visit;
  const { id, user, vendor: listed, scopes } = ticket;
  // 2. the page was shown to this user
  const linkVersion = await requireShown(form, user, ["ticket", id], deps, trace);
  const decision = readDecision(form);
  // 3. of any number of decisions the first
  if (!(await deps.tickets.decide(id, decision === "approve" ? "approved" : "denied"))) {
    return gonePage(await visitorOf(signedIn, deps));
  }
  if (decision === "deny") return redirectAnswer(connectionsUrl({ error: "access_denied" }));
  // 4. the ticket ends with its flow
  try {
    return await startLink({ user, listed, scopes, linkVersion, ticketId: id }, deps, trace);
  } catch (error) {
    // Best effort: the ticket expires, and the user sees the first error.
    await deps.tickets.settle(id, "ended").catch(() => undefined);
    throw error;
  }
}

/** Without a sign-in every ticket, known or not, goes there first. */
async function visitTicket(
  { value, cookieHeader }: TicketRequest,
  deps: PagesDeps,
  trace: Trace,
): Promise<
  | { readonly answer: Answer }
  | { readonly signedIn: SignedIn; readonly ticket: OpenTicket; readonly client: ServerClient }
> {
  const signedIn = await deps.signIns.read(cookieHeader);
  if (signedIn === undefined) {
    // The path may hold anything; only what can be a ticket is gone back to.
    const back = /^[A-Za-z0-9_-]{1,64}$/.test(value) ? `${PATHS.connect}/${value}` : PATHS.connections;
    return { answer: await startSignIn(back, {}, deps, trace) };
  }
  trace.flowId = hashOf(value);
  const ticket = await deps.tickets.find(value);
  if (ticket === undefined) return { answer: gonePage(await visitorOf(signedIn, deps)) };
  if (!isOfUser(ticket.user, signedIn)) return { answer: foreignPage(await visitorOf(signedIn, deps), value) };
  const client = await deps.findClient(ticket.clientId);
  const isListed = deps.settings.links.vendors.has(ticket.vendor);
  if (client === undefined || !isListed) return { answer: gonePage(await visitorOf(signedIn, deps)) };
  trace.clientId = client.clientId;
  trace.vendor = ticket.vendor;
  return { signedIn, ticket, client };
}
