/**
 * What a client gets if its user has to link an account first, or refused to: a request to
 * show the user a URL in the client's own protocol era, or text for the model. The URL alone is on
 * the last line of the text.
 */
import {
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/server";
import type { LinkRequest, Ticket } from "../../mode.ts";
import type { Tool } from "../../tool.ts";
import type { LinkedRequest } from "./call.ts";
import type { ElicitationDeps } from "./deps.ts";
import type { AskedLink } from "./find-links.ts";

/** How a client is asked. */
export type AskMode = "result" | "error" | "text";

/** What a call answers instead of its result. The error is thrown to the SDK. */
export interface Asked {
  readonly answer: CallToolResult | InputRequiredResult | UrlElicitationRequiredError;
  readonly vendors: readonly string[];
}

/** @param mode `text` if the call must not be repeated by the client itself */
export async function ask(
  requests: readonly AskedLink[],
  {
    tool,
    mode,
    mayRepeat,
    linked,
  }: { tool: Pick<Tool, "name" | "title">; mode: AskMode; mayRepeat: boolean; linked: LinkedRequest },
  deps: ElicitationDeps,
): Promise<Asked> {
  const asked: { readonly request: AskedLink; readonly ticket: Ticket; readonly message: string }[] = [];
  // One after another: each is a write to the same record.
  for (const request of requests.slice(0, mode === "text" ? 1 : deps.mostTickets)) {
    asked.push({
      request,
      ticket: await linked.links.ask({ vendor: request.vendor, scopes: request.scopes }),
      message: messageOf(request, tool, mode === "text" ? "the user's" : "your", deps),
    });
  }
  const vendors = asked.map(({ request: { vendor } }) => vendor);
  if (mode === "result") {
    const inputRequests = asked.map(({ request, ticket: { url }, message }) => [
      request.vendor,
      inputRequired.elicitUrl({ message, url }),
    ]);
    const tickets = asked.map(({ request: { vendor, isRepeated }, ticket: { id } }) => ({ vendor, id, isRepeated }));
    const expiresAt = Math.max(...asked.map(({ ticket }) => ticket.expiresAt));
    const requestState = await linked.sealState(tickets, expiresAt);
    return { vendors, answer: inputRequired({ inputRequests: Object.fromEntries(inputRequests), requestState }) };
  }
  if (mode === "error") {
    const list = asked.map(({ ticket, message }) => ({
      mode: "url" as const,
      elicitationId: ticket.id,
      url: ticket.url,
      message,
    }));
    return { vendors, answer: new UrlElicitationRequiredError(list) };
  }
  const next = mayRepeat
    ? "Ask the user to open this page, and call the tool again when that is done:"
    : "The call had already begun and may have had effects. Ask the user to open this page, and check what was done before calling the tool again:";
  const lines = asked.map(({ ticket, message }) => `${message} ${next}\n${ticket.url}`);
  return { vendors, answer: failure(lines.join("\n")) };
}

/** @param whose as the reader calls the user */
function messageOf(
  { vendor, scopes }: LinkRequest,
  { name, title = name }: Pick<Tool, "name" | "title">,
  whose: "your" | "the user's",
  deps: ElicitationDeps,
): string {
  const permissions = scopes.length === 0 ? "" : ` with ${scopes.join(", ")}`;
  return `${title} needs ${whose} ${nameOf(vendor, deps)} account, connected${permissions}.`;
}

/** The codes of what the user, or the client on the user's behalf, decided. */
export type LinkRefusal = "link_declined" | "link_cancelled" | "scope_not_granted";

/** A tool error whose first word is the code. */
export function refusalOf(code: LinkRefusal, { vendor, scopes }: LinkRequest, deps: ElicitationDeps): CallToolResult {
  const name = nameOf(vendor, deps);
  const words = {
    link_declined: `means that the user does not want to connect ${name}. Do not call the tool again unless the user asks for it`,
    link_cancelled: `means that the user closed the request to connect ${name} without a decision. Ask the user before calling the tool again`,
    scope_not_granted: `means that ${name} was asked for ${scopes.join(", ")} and it was not granted. The user can reconnect ${name} at ${deps.connectionsUrl}`,
  } as const;
  return { ...failure(`${code} ${words[code]}`), structuredContent: { error: code, vendor } };
}

function nameOf(vendor: string, { vendors }: ElicitationDeps): string {
  return vendors.get(vendor)?.vendor.name ?? vendor;
}

/** A tool error that the model reads. */
export function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text: text.toWellFormed() }], isError: true };
}
