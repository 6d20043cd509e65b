/**
 * HTTP messages as web types: a `RequestInit` becomes what the pool takes, a complete response
 * becomes a `Response`. Content coding is undone here and never grows beyond the limit: we ask for
 * `identity`, and some vendors compress anyway.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { type EgressError, egressError } from "./errors.ts";
import type { Answer, ExchangeRequest } from "./exchange.ts";

/**
 * Set by the connection, or not the caller's to set: another `host` would also change the name that
 * TLS checks.
 */
const RESERVED_HEADERS = new Set([
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

/** Headers that no longer describe the body after decoding, and cookies, which are not kept. */
const DROPPED_HEADERS = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "set-cookie",
  "transfer-encoding",
]);

/**
 * The type of a form, which has no parameter: strict vendors refuse the `charset` that the web's own
 * fetch adds.
 */
export const FORM_TYPE = "application/x-www-form-urlencoded";

const NULL_BODY_STATUS = new Set([204, 205, 304]);

/**
 * @throws EgressError refused, for headers, bodies and modes that this module does not support
 */
export function readRequest(url: URL, init: RequestInit): ExchangeRequest {
  const { redirect = "manual", method = "GET", signal, headers, body } = init;
  //= bar#EG-6
  //= bar#EG-12
  if (redirect !== "manual") throw unsupported("redirects are never followed");
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
    //= bar#EG-11
    if (RESERVED_HEADERS.has(lower)) throw unsupported(`the header ${lower} is not the caller's to set`);
    names.add(lower);
    list.push(lower, value);
  }
  return { list, names };
}

function readBody(body: RequestInit["body"]): { content: string | Uint8Array | null; type?: string } {
  if (body === undefined || body === null) return { content: null };
  if (typeof body === "string") return { content: body, type: "text/plain;charset=UTF-8" };
  if (body instanceof URLSearchParams) return { content: body.toString(), type: FORM_TYPE };
  if (body instanceof Uint8Array) return { content: body };
  throw unsupported("a body is a string, URLSearchParams or Uint8Array");
}

function unsupported(detail: string): Error {
  return egressError("refused", false, detail);
}

/**
 * Node's own, saved before the listener of @hono/node-server replaces it with a lazy one. Our
 * responses are read at once, and the lazy one would then build the real one as well.
 */
const NativeResponse = globalThis.Response;

/** @param body decoded */
export function toResponse({ status, headers }: Answer, body: Bytes): Response {
  const response = NULL_BODY_STATUS.has(status)
    ? new NativeResponse(null, { status })
    : new WholeResponse(body, { status });
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || DROPPED_HEADERS.has(name)) continue;
    if (typeof value === "string") response.headers.append(name, value);
    else for (const one of value) response.headers.append(name, one);
  }
  return response;
}

/** What a Response without a body has. */
type Head = Pick<Response, "headers" | "ok" | "redirected" | "status" | "statusText" | "type" | "url">;
const ResponseHead: new (body: null, init: ResponseInit) => Head = NativeResponse;

/** As the encoding standard decodes: without a leading byte order mark. */
const UTF8 = new TextDecoder();

/**
 * A Response whose body is all there. `text` and `json` read it without a stream, because a stream
 * costs more than the rest of the exchange. Every other way to read goes through a Response of the
 * web; a way that is missing here does not compile.
 */
class WholeResponse extends ResponseHead {
  readonly #content: Bytes;
  #isRead = false;
  #web: Response | undefined;

  constructor(content: Bytes, init: ResponseInit) {
    super(null, init);
    this.#content = content;
  }

  async text(): Promise<string> {
    if (this.#isRead || this.#web !== undefined) return this.#asWeb().text();
    this.#isRead = true;
    return UTF8.decode(this.#content);
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
  get bodyUsed(): boolean {
    return this.#isRead || this.#web?.bodyUsed === true;
  }
  get body(): Response["body"] {
    return this.#asWeb().body;
  }
  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#asWeb().arrayBuffer();
  }
  blob(): Promise<Blob> {
    return this.#asWeb().blob();
  }
  bytes(): ReturnType<Response["bytes"]> {
    return this.#asWeb().bytes();
  }
  formData(): ReturnType<Response["formData"]> {
    return this.#asWeb().formData();
  }
  textStream(): ReturnType<Response["textStream"]> {
    return this.#asWeb().textStream();
  }
  clone(): Response {
    return this.#asWeb().clone();
  }

  /** Its body counts as used when this one is read already. */
  #asWeb(): Response {
    if (this.#web !== undefined) return this.#web;
    this.#web = new NativeResponse(this.#content, this);
    if (this.#isRead) void this.#web.text();
    return this.#web;
  }
}

type Bytes = Uint8Array<ArrayBuffer>;
type Decoder = (data: Bytes, options: { readonly maxOutputLength: number }) => Bytes;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  // rfc9110#8.4.1.2 means the zlib format; some servers send raw deflate, which never starts with
  // its 4-bit method 8.
  deflate: (data, options) =>
    ((data[0] ?? 0) & 0x0f) === 8 ? inflateSync(data, options) : inflateRawSync(data, options),
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Names of no coding that servers send, a character set among them. */
const NO_CODINGS: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8"]);

/**
 * @param origin for `detail`
 * @throws EgressError too_large, or unreadable for damaged data, and for codings we do not know or
 *   several at once
 */
//= bar#EG-8
export function decodeBody({ body: data, headers }: Answer, maxBodyBytes: number, origin: string): Bytes {
  const codings = codingsOf(headers["content-encoding"]);
  const [name, ...more] = codings;
  if (data.length === 0 || name === undefined) return data;
  const decode = more.length === 0 && Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (decode === undefined)
    throw egressError("unreadable", true, `${origin}: content coding ${codingText(codings)} is not supported`);
  try {
    return decode(data, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    throw decodingError(error, origin);
  }
}

//= rfc9110#8.4
function codingsOf(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return String(header)
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !NO_CODINGS.has(name));
}

/** A header of another party, for the log: what a coding's name may have, and little of it. */
function codingText(codings: readonly string[]): string {
  return codings
    .join(" ")
    .replace(/[^\w.+ -]/g, "_")
    .slice(0, 32);
}

function decodingError(error: unknown, origin: string): EgressError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return egressError(
    code === "ERR_BUFFER_TOO_LARGE" ? "too_large" : "unreadable",
    true,
    `${origin}: decoding failed, ${code}`,
  );
}
