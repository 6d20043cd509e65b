/**
 * One request of `/mcp` at a server of several vendors, around the SDK: a `requestState` is
 * checked in the body before the SDK sees it, and `initialize` is answered with `Mcp-Session-Id`.
 * Sits between endpoint.ts and the SDK's handler.
 */
import { isJsonContentType } from "@modelcontextprotocol/server";
import {
  createByteCollector,
  defined,
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "@oauth-broker/oauth-core";
import type { Log } from "@oauth-broker/service";
import type { Caller } from "../../mode.ts";
import type { LinkedRequest } from "./call.ts";
import type { ElicitationDeps } from "./deps.ts";
import { type AskedTicket, createRequestStates, type RequestStates, STATE_PREFIX } from "./request-state.ts";
import { createMcpSessions } from "./url-elicitation.ts";

/** Passes a request on to the SDK. */
export type Serve = (request: Request, linked: LinkedRequest | undefined, parsedBody: unknown) => Promise<Response>;

export interface ExchangeDeps extends Pick<ElicitationDeps, "seals" | "now" | "source"> {
  /** The tools of the definition: they have no other `requestState` than ours. */
  readonly toolNames: ReadonlySet<string>;
  readonly log: Pick<Log, "info">;
  /** The SDK refuses larger ones. */
  readonly maxBodyBytes: number;
}

export type Exchange = (request: Request, caller: Caller, serve: Serve) => Promise<Response>;

export function createExchange(deps: ExchangeDeps): Exchange {
  const states = createRequestStates(deps);
  const sessions = createMcpSessions(deps);
  return async (request, caller, serve) => {
    const read = await readBody(request, deps.maxBodyBytes);
    if (read === undefined) {
      deps.log.info("mcp_refused", { reason: "body_too_large", ...defined({ clientId: caller.clientId }) });
      return bodyTooLarge(deps.maxBodyBytes);
    }
    const { again, body } = read;
    const found = await openStates(body, caller, { states, toolNames: deps.toolNames });
    if (found === undefined) {
      deps.log.info("mcp_refused", { reason: "request_state_invalid", clientId: caller.clientId });
      return invalidState(body);
    }
    const { tool = "", arguments: given } = found;
    const links = linksOf(caller);
    const linked: LinkedRequest = {
      links,
      asked: found.asked,
      sealState: (tickets, expiresAt) =>
        states.seal({ tickets, expiresAt }, { user: caller.user, clientId: caller.clientId, tool, arguments: given }),
      elicitsUrls: () => sessions.elicitsUrls(request.headers.get("mcp-session-id"), caller),
    };
    const answer = await serve(again, linked, found.body);
    if (!isJsonObject(body) || body["method"] !== "initialize" || !answer.ok) return answer;
    const headers = new Headers(answer.headers);
    headers.set("mcp-session-id", await sessions.seal(paramsOf(body)["capabilities"], caller));
    return new Response(answer.body, { status: answer.status, headers });
  };
}

function linksOf({ links }: Caller): LinkedRequest["links"] {
  if (links === undefined) throw new TypeError("there is a caller without links");
  return links;
}

interface ReadBody {
  /** For the SDK: with the same body if that was read and is not JSON. */
  readonly again: Request;
  /** Parsed; undefined if the SDK has to refuse the request. */
  readonly body: JsonValue | undefined;
}

/** @returns undefined for a body that is too long, or comes in too many chunks */
async function readBody(request: Request, maxBytes: number): Promise<ReadBody | undefined> {
  const isTooLarge = Number(request.headers.get("content-length")) > maxBytes;
  if (!isJsonContentType(request.headers.get("content-type")) || isTooLarge) return { again: request, body: undefined };
  const bytes = await readBytes(request, maxBytes);
  if (bytes === undefined) return undefined;
  try {
    return { again: request, body: JSON.parse(new TextDecoder().decode(bytes)) as JsonValue };
  } catch {
    // The SDK reports it.
  }
  const { method, headers, signal } = request;
  return { again: new Request(request.url, { method, headers, signal, body: bytes }), body: undefined };
}

/** @returns what came of a body that was cut short; else as `readBody` */
async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const collected = createByteCollector(maxBytes);
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      if (collected.add(chunk) !== undefined) return undefined;
    }
  } catch {
    // The SDK reports it.
  }
  return collected.bytes();
}

interface OpenedStates {
  /** Without our `requestState`: the SDK would pass it to an author's own check. */
  readonly body: JsonValue | undefined;
  readonly asked: readonly AskedTicket[];
  readonly tool?: string;
  readonly arguments?: JsonValue | undefined;
}

/**
 * @returns undefined when a `requestState` is not valid for its request
 * @throws OAuthError temporarily_unavailable
 */
async function openStates(
  body: JsonValue | undefined,
  caller: Caller,
  { states, toolNames }: { readonly states: RequestStates } & Pick<ExchangeDeps, "toolNames">,
): Promise<OpenedStates | undefined> {
  const none = { body, asked: [] };
  if (isJsonList(body)) return body.every((message) => isOfOthers(message, toolNames)) ? none : undefined;
  if (isOfOthers(body, toolNames)) return { ...none, ...callIn(body) };
  const { requestState, ...params } = paramsOf(body);
  const call = callIn(body);
  if (typeof requestState !== "string" || call === undefined || !toolNames.has(call.tool)) return undefined;
  const { user, clientId } = caller;
  const asked = await states.open(requestState, { user, clientId, ...call });
  return asked === undefined ? undefined : { body: { ...(body as object), params } as JsonValue, asked, ...call };
}

/** @returns whether the message has no `requestState`, or one that the author's feature made */
function isOfOthers(message: JsonValue | undefined, toolNames: ReadonlySet<string>): boolean {
  const params = paramsOf(message);
  if (!isRequest(message) || !Object.hasOwn(params, "requestState")) return true;
  const { requestState } = params;
  if (typeof requestState !== "string" || requestState === "" || requestState.startsWith(STATE_PREFIX)) return false;
  const call = callIn(message);
  return call === undefined || !toolNames.has(call.tool);
}

/** The SDK takes `requestState` from requests alone. */
function isRequest(message: JsonValue | undefined): boolean {
  return isJsonObject(message) && Object.hasOwn(message, "method");
}

function callIn(
  message: JsonValue | undefined,
): { readonly tool: string; readonly arguments: JsonValue | undefined } | undefined {
  if (!isJsonObject(message) || message["method"] !== "tools/call") return undefined;
  const { name, arguments: given } = paramsOf(message);
  return typeof name === "string" ? { tool: name, arguments: given } : undefined;
}

function paramsOf(message: JsonValue | undefined): JsonObject {
  const params = isJsonObject(message) ? message["params"] : undefined;
  return isJsonObject(params) ? params : {};
}

/** The response that the SDK has for a state which an author's own check refuses. */
function invalidState(body: JsonValue | undefined): Response {
  const id = isJsonObject(body) ? body["id"] : undefined;
  const data = { reason: "invalid_request_state" };
  return Response.json({
    jsonrpc: "2.0",
    error: { code: -32602, message: "Invalid or expired requestState", data },
    id: typeof id === "string" || typeof id === "number" ? id : null,
  });
}

/** As the SDK refuses one at a server of one vendor. */
function bodyTooLarge(maxBytes: number): Response {
  const message = `Payload Too Large: Request body must not exceed ${maxBytes} bytes`;
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status: 413 });
}
