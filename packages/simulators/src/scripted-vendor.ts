/**
 * The vendor that a test programs: a server on loopback whose response to each path is the test's
 * own, right, wrong, late or none. The vendors of tests that imitate no real vendor are made from it.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "./listen.ts";

export interface ScriptedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly form: URLSearchParams;
}

/** An object is sent as JSON. Default: 200 without a body. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | object;
}

/** As a token endpoint refuses (rfc6749#5.2). */
export function refusal(error: string, status = 400): ScriptedAnswer {
  return { status, body: { error } };
}

/** Without an answer it has written to `response` itself, or leaves the other side waiting. */
export type Respond = (
  request: ScriptedRequest,
  response: ServerResponse,
) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

/** A response that needs no connection. */
export type VendorAnswer = (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** By path; `*` is any other. */
export type Script = Readonly<Record<string, ScriptedAnswer | Respond>>;

export type ScriptedVendor = Awaited<ReturnType<typeof startScriptedVendor>>;

/**
 * @param script may change between two requests; a path that it lacks answers 404
 * @param options.port default 0: a free one
 * @param options.keepsRequests default true; false for load, which would fill the memory
 */
export async function startScriptedVendor(
  script: Script,
  { port = 0, keepsRequests = true }: { readonly port?: number; readonly keepsRequests?: boolean } = {},
) {
  const { server, url, close } = await listen(port);
  const received: ScriptedRequest[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    if (keepsRequests) received.push(request);
    const scripted = script[request.path] ?? script["*"] ?? { status: 404 };
    const given = typeof scripted === "function" ? await scripted(request, response) : scripted;
    if (given !== undefined) sendAnswer(response, given);
  };
  server.on("request", (incoming: IncomingMessage, response: ServerResponse) => {
    // A client that disconnects in the middle is a case of these tests.
    answer(incoming, response).catch(() => response.destroy());
  });
  return {
    server,
    url,
    /** Oldest first; empty unless it keeps them. */
    received,
    close,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ScriptedRequest> {
  const { method = "", url: target = "/", headers } = incoming;
  const [path = "/", query = ""] = target.split("?", 2);
  const body = await text(incoming);
  return { method, path, query: new URLSearchParams(query), headers, body, form: new URLSearchParams(body) };
}

function sendAnswer(response: ServerResponse, { status = 200, headers, body = "" }: ScriptedAnswer): void {
  const isJson = typeof body === "object" && !(body instanceof Uint8Array);
  const content = Buffer.from(isJson ? JSON.stringify(body) : body);
  const type = isJson ? { "Content-Type": "application/json" } : {};
  response.writeHead(status, { ...type, "Content-Length": content.length, ...headers }).end(content);
}
