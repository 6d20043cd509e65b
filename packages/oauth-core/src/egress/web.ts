/**
 * The web's shapes at the edge of egress: `RequestInit` to what the pool takes, a whole answer to a `Response`.
 */
import type { Answer, ExchangeRequest } from "./exchange.ts";
import { egressError } from "./errors.ts";

/** Set by the connection, or none of a caller's business: another `host` would also change the name TLS checks. */
const NOT_THE_CALLERS = new Set([
  "host",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What the body no longer is after decoding, and cookies, which nobody here keeps. */
const NOT_HANDED_ON = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "set-cookie",
  "transfer-encoding",
]);

const NULL_BODY_STATUS = new Set([204, 205, 304]);

/**
 * @throws EgressError refused, for headers, bodies and modes outside what this module speaks
 */
export function readRequest(url: URL, init: RequestInit): ExchangeRequest {
  const { redirect = "manual", method = "GET", signal, headers, body } = init;
  //= bar#EG-6
  //= bar#EG-12
  if (redirect !== "manual") throw notSpoken("redirects are never followed");
  if (signal?.aborted === true) throw egressError("timeout", false, "aborted by the caller before the call");
  const { list, names } = readHeaders(headers);
  if (!names.has("accept-encoding")) list.push("accept-encoding", "identity");
  if (!names.has("user-agent")) list.push("user-agent", "oauth-broker");
  const { content, type } = readBody(body);
  if (type !== undefined && !names.has("content-type")) list.push("content-type", type);
  return {
    path: url.pathname + url.search,
    method: method.toUpperCase(),
    headers: list,
    body: content,
    signal: signal ?? undefined,
  };
}

function readHeaders(headers: RequestInit["headers"]): { list: string[]; names: Set<string> } {
  const list: string[] = [];
  const names = new Set<string>();
  if (headers === undefined) return { list, names };
  const entries = headers instanceof Headers || Array.isArray(headers) ? headers : Object.entries(headers);
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    if (NOT_THE_CALLERS.has(lower)) throw notSpoken(`the header ${lower} is not the caller's to set`);
    names.add(lower);
    list.push(lower, value);
  }
  return { list, names };
}

function readBody(body: RequestInit["body"]): { content: string | Uint8Array | null; type?: string } {
  if (body === undefined || body === null) return { content: null };
  if (typeof body === "string") return { content: body, type: "text/plain;charset=UTF-8" };
  if (body instanceof URLSearchParams)
    return { content: body.toString(), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  if (body instanceof Uint8Array) return { content: body };
  throw notSpoken("a body is a string, URLSearchParams or Uint8Array");
}

function notSpoken(detail: string): Error {
  return egressError("refused", false, detail);
}

/**
 * Node's own, taken before the listener of @hono/node-server puts a lazy one in its place: ours are read at once, and the
 * lazy one would then build the real one beside itself.
 */
const NativeResponse = globalThis.Response;

/** @param body decoded */
export function toResponse({ status, headers }: Answer, body: Buffer<ArrayBuffer>): Response {
  const handedOn = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_HANDED_ON.has(name)) continue;
    if (typeof value === "string") handedOn.append(name, value);
    else for (const one of value) handedOn.append(name, one);
  }
  return new NativeResponse(NULL_BODY_STATUS.has(status) ? null : body, { status, headers: handedOn });
}
