/**
 * One call of a tool at a server of several vendors: what the tool names is linked before it
 * runs, and asked for otherwise. Nothing here ends the session. Called by run-tool.ts.
 */
import {
  type CallToolResult,
  type InputRequiredResult,
  inputResponse,
  type UrlElicitationRequiredError,
} from "@modelcontextprotocol/server";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { LinkRequest } from "../../mode.ts";
import { NeedsScope, ToolError } from "../../tool.ts";
import { ask, type AskMode, failure, type LinkRefusal, refusalOf } from "./asking.ts";
import type { LinkedRequest, RunningToolCall, ToolCall } from "./call.ts";
import type { ElicitationDeps } from "./deps.ts";
import { findLacking, findLinks, type FoundLinks, type UsableLink } from "./find-links.ts";
import { declaresUrlElicitation } from "./url-elicitation.ts";
import type { createWaiting } from "./waiting.ts";

export interface RunLinkedDeps extends ElicitationDeps {
  readonly wait: ReturnType<typeof createWaiting>;
  /** Called once for every vendor that is asked for. */
  readonly onAsked: (vendor: string, mode: AskMode) => void;
}

/** The answer, and why it is not the tool's own. */
export interface LinkedAnswer {
  readonly answer: CallToolResult | InputRequiredResult | UrlElicitationRequiredError;
  readonly reason?: LinkRefusal | "link_asked" | "call_cancelled";
}

/** A call with the request it came in. */
export interface LinkedCall extends RunningToolCall {
  readonly linked: LinkedRequest;
}

/**
 * @param run the tool itself, with the usable link of each vendor by its id
 * @throws whatever `run` throws, if no link is the cause; ToolError when the links cannot be read
 */
export async function runLinked(
  call: LinkedCall,
  deps: RunLinkedDeps,
  run: (usable: ReadonlyMap<string, UsableLink>) => Promise<CallToolResult>,
): Promise<LinkedAnswer> {
  return runOrAsk(call, deps, run).catch((error: unknown) => {
    // An outage of our own store is not the fault of the tool or the user.
    if (!(error instanceof OAuthError) || error.code !== "temporarily_unavailable") throw error;
    throw new ToolError("The user's connected accounts cannot be read now: try again in a moment", { cause: error });
  });
}

async function runOrAsk(
  call: LinkedCall,
  deps: RunLinkedDeps,
  run: Parameters<typeof runLinked>[2],
): Promise<LinkedAnswer> {
  const { named, caller, linked, signal } = call;
  const { links } = linked;
  const left = await leftByUser(call);
  if (left !== undefined) return answerRefusal(left.code, { vendor: left.vendor, scopes: [] }, deps);
  const { open, denied } = await deps.wait(linked.asked, caller.user, links, signal);
  if (denied[0] !== undefined) return answerRefusal("link_declined", { vendor: denied[0], scopes: [] }, deps);
  if (signal.aborted) return { answer: failure("The call was cancelled"), reason: "call_cancelled" };
  const found = await findLinks(named, open, links, deps);
  const before = await askFor(found, true, call, deps);
  if (before !== undefined) return before;
  try {
    return { answer: await run(found.usable) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    // A vendor that refuses a token ends the link while the tool runs.
    const ended =
      error instanceof NeedsScope ? findLacking(error, named, links, deps) : findLinks(named, [], links, deps);
    const lacking = await ended;
    const after = lacking && (await askFor(lacking, mayRepeat(call), call, deps));
    if (after === undefined) throw error;
    return after;
  }
}

/** The client reports that its user left the URL unopened: the ticket ends. */
async function leftByUser({
  context: { mcpReq },
  linked,
}: LinkedCall): Promise<{ readonly code: LinkRefusal; readonly vendor: string } | undefined> {
  const left = linked.asked.flatMap((ticket) => {
    const response = inputResponse(mcpReq.inputResponses, ticket.vendor);
    if (response.kind !== "elicit" || response.action === "accept") return [];
    return [{ ...ticket, code: response.action === "decline" ? "link_declined" : "link_cancelled" } as const];
  });
  for (const { id } of left) await linked.links.cancel(id);
  return left[0];
}

/** @returns undefined when there is nothing to ask or to refuse */
async function askFor(
  { requests, notGranted }: Pick<FoundLinks, "requests" | "notGranted">,
  isRepeatable: boolean,
  { tool, context, era, linked }: LinkedCall,
  deps: RunLinkedDeps,
): Promise<LinkedAnswer | undefined> {
  if (notGranted[0] !== undefined) return answerRefusal("scope_not_granted", notGranted[0], deps);
  if (requests.length === 0) return undefined;
  const canElicit = era === "modern" ? declaresUrlElicitation(context) : await linked.elicitsUrls();
  const elicited = era === "modern" ? "result" : "error";
  const mode = isRepeatable && canElicit ? elicited : "text";
  const { answer, vendors } = await ask(requests, { tool, mode, mayRepeat: isRepeatable, linked }, deps);
  for (const vendor of vendors) deps.onAsked(vendor, mode);
  return { answer, reason: "link_asked" };
}

function mayRepeat({ tool: { annotations = {} } }: Pick<ToolCall, "tool">): boolean {
  return annotations.readOnlyHint === true || annotations.idempotentHint === true;
}

function answerRefusal(code: LinkRefusal, about: LinkRequest, deps: RunLinkedDeps): LinkedAnswer {
  return { answer: refusalOf(code, about, deps), reason: code };
}
