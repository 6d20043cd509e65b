/**
 * Reads a request body with our own byte counter, at the Node layer if there is one: a declared
 * length over the limit is refused before a byte is read, an undeclared one as soon as it exceeds
 * the limit, and one in far too many chunks as well (bar HT-1).
 */
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { type BodyFault, createByteCollector, OAuthError } from "@oauth-broker/oauth-core";
import { type Parameters, parseParameters } from "@oauth-broker/oauth-core/protocol";

/** The most bytes a request body may have. */
export interface BodyLimit {
  readonly bodyBytes: number;
}

/** @throws OAuthError invalid_request: 415 for another content type or a coding, 413 over the limit */
export async function readForm(c: Context, limit: BodyLimit): Promise<Parameters> {
  return parseParameters(await readFormText(c, limit));
}

/** The parameters of the URL as it was sent, each once. @throws OAuthError invalid_request */
export function readQuery(c: Context): Parameters {
  return parseParameters(queryText(c));
}

/**
 * The form as it was sent; the caller parses it.
 *
 * @throws OAuthError as `readForm`, but for no parameter
 */
export function readFormText(c: Context, limit: BodyLimit): Promise<string> {
  return readBody(c, "application/x-www-form-urlencoded", limit);
}

/** The query of the URL as it was sent, without `?`; the caller parses it. */
export function queryText({ req: { url } }: Context): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : (url.slice(start + 1).split("#", 1)[0] ?? "");
}

/** @returns the text; the caller parses it */
export function readJsonText(c: Context, limit: BodyLimit): Promise<string> {
  return readBody(c, "application/json", limit);
}

function requireContentType(c: Context, expected: string): void {
  const header = c.req.header("content-type") ?? "";
  if (header === expected) return;
  const [type = "", ...rest] = header.toLowerCase().split(";");
  const charset = rest.map((part) => part.trim()).find((part) => part.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  //= bar#HT-2
  if (type.trim() === expected && isUtf8) return;
  throw new OAuthError("invalid_request", `Content-Type must be ${expected}, in UTF-8`, { status: 415 });
}

/** For a body that is read by others. @throws OAuthError invalid_request with 415 for a compressed body */
export function requireNoCoding(c: Context): void {
  const codings = c.req.header("content-encoding")?.toLowerCase().split(",") ?? [];
  //= rfc9110#8.4
  if (codings.every((coding) => ["", "identity"].includes(coding.trim()))) return;
  throw new OAuthError("invalid_request", "The body must be sent without a Content-Encoding", { status: 415 });
}

async function readBody(c: Context, type: string, { bodyBytes }: BodyLimit): Promise<string> {
  requireContentType(c, type);
  requireNoCoding(c);
  //= bar#HT-1
  if (Number(c.req.header("content-length") ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  const incoming = (c.env as { incoming?: IncomingMessage } | undefined)?.incoming;
  const bytes = incoming === undefined ? await readWeb(c.req.raw, bodyBytes) : await readNode(incoming, bodyBytes);
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new OAuthError("invalid_request", "The body is not UTF-8", { cause });
  }
}

/** Listens instead of iterating: an async iterator costs more than the rest of this file. */
function readNode(incoming: IncomingMessage, bodyBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = createByteCollector(bodyBytes);
    const take = (chunk: Buffer): void => {
      const fault = body.add(chunk);
      if (fault === undefined) return;
      // Nothing more is taken in: the listener ends the connection after the response.
      incoming.off("data", take);
      incoming.pause();
      reject(refusalOf(fault, bodyBytes));
    };
    incoming.on("data", take);
    // `close` follows every request; only one that did not end was cut short.
    const cutShort = (): void => {
      if (!incoming.complete) reject(new OAuthError("invalid_request", "The body was cut short"));
    };
    incoming.on("end", () => resolve(body.bytes()));
    incoming.on("error", cutShort);
    incoming.on("close", cutShort);
  });
}

async function readWeb(request: Request, bodyBytes: number): Promise<Uint8Array> {
  const body = createByteCollector(bodyBytes);
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    const fault = body.add(chunk);
    if (fault !== undefined) throw refusalOf(fault, bodyBytes);
  }
  return body.bytes();
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function refusalOf(fault: BodyFault, bodyBytes: number): OAuthError {
  if (fault === "too_large") return tooLarge(bodyBytes);
  return new OAuthError("invalid_request", "The body comes in too many chunks");
}

function tooLarge(limit: number): OAuthError {
  return new OAuthError("invalid_request", `The body is larger than ${limit} bytes`, { status: 413 });
}
