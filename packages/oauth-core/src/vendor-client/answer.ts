/**
 * The first checks of every vendor response: status, content type and body, read once and strictly.
 */
import type { Clock, JsonObject, JsonValue } from "../ports.ts";
import { parseParameters } from "../protocol/parameters.ts";
import { isJsonList, withPlainNumbers } from "../mechanics/exact-json.ts";
import { isJsonObject, parseExactJsonStrict } from "../protocol/strict-json.ts";
import { invalidVendorResponse, type VendorCall, vendorUnavailable } from "./errors.ts";

const MAX_BODY_CHARACTERS = 262_144;

/**
 * @throws OAuthError temporarily_unavailable for an outage; vendor_response_invalid for a redirect
 */
export function requireAnswer(response: Response, call: VendorCall, now: Clock): void {
  if (isOutage(response)) throw vendorUnavailable(response, call, now);
  requireNoRedirect(response, call);
}

/** @throws OAuthError vendor_response_invalid */
export function requireNoRedirect({ status }: Response, call: VendorCall): void {
  //= bar#EG-12
  //= bar#EG-6
  if (status >= 200 && (status < 300 || status >= 400)) return;
  throw invalidVendorResponse(`${call.what}: status ${status}`);
}

/**
 * 429, 5xx, a request that was not taken up (408, 425), and a rate limit reported the older way,
 * which is still in use.
 */
export function isOutage({ status, headers }: Response): boolean {
  return (
    status === 429 ||
    status >= 500 ||
    status === 408 ||
    status === 425 ||
    (status === 403 && (headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after")))
  );
}

/** A body as it came. */
export interface Body {
  readonly text: string;
  /** The media type alone, in lower case; empty if the header is missing. */
  readonly type: string;
}

/** @throws OAuthError vendor_response_invalid for a body that is too large */
export async function readBody(response: Response, call: VendorCall): Promise<Body> {
  const type = (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  // `text()` drops a leading byte order mark, as the encoding standard requires.
  const text = (await response.text()).trim();
  if (text.length > MAX_BODY_CHARACTERS) throw invalidVendorResponse(`${call.what}: response too large`);
  return { text, type };
}

/**
 * The body as a JSON object, its numbers exact (exact-json.ts). What begins with a brace is JSON
 * under any type; HTML is never read; a form is accepted only with `acceptForm`.
 *
 * @throws OAuthError vendor_response_invalid
 */
//= bar#VR-7
export function parseBody(body: Body, call: VendorCall, { acceptForm = false } = {}): JsonObject {
  const value = parseValue(body, call, acceptForm);
  if (isJsonObject(value)) return value;
  throw invalidVendorResponse(`${call.what}: body is not an object`);
}

function parseValue({ text, type }: Body, call: VendorCall, acceptForm: boolean): JsonValue {
  const isJson = text.startsWith("{") || text.startsWith("[");
  const isForm = acceptForm && !isJson && FORM.test(text);
  if (!isJson && !isForm && isHtml({ text, type })) throw invalidVendorResponse(`${call.what}: answered HTML`);
  try {
    return isForm ? parseForm(text) : parseExactJsonStrict(text);
  } catch (cause) {
    throw invalidVendorResponse(`${call.what}: unreadable body`, { cause });
  }
}

/** How a form begins: the name of a parameter. */
const FORM = /^[\w.~%+-]+=/;

/** A page, by its first character or by its type. */
export function isHtml({ text, type }: Body): boolean {
  return text.startsWith("<") || type === "text/html" || type === "application/xhtml+xml";
}

/** The body as a JSON object, as `parseBody`, its numbers as JSON.parse reads them. */
export async function readObject(response: Response, call: VendorCall): Promise<JsonObject> {
  return withPlainNumbers(parseBody(await readBody(response, call), call));
}

/**
 * As `readObject`, and a list too: for a caller that takes one member of either.
 *
 * @throws OAuthError vendor_response_invalid
 */
export async function readObjectOrList(
  response: Response,
  call: VendorCall,
): Promise<JsonObject | readonly JsonValue[]> {
  const value = withPlainNumbers(parseValue(await readBody(response, call), call, false));
  if (isJsonObject(value) || isJsonList(value)) return value;
  throw invalidVendorResponse(`${call.what}: body is neither an object nor a list`);
}

function parseForm(body: string): JsonObject {
  const parameters = parseParameters(body);
  return Object.fromEntries(parameters.names().map((name) => [name, parameters.require(name)]));
}

/** Node's own: the listener of @hono/node-server replaces it with a lazy one. */
const NativeResponse = globalThis.Response;

/**
 * A parsed response as a Response again: oauth4webapi takes nothing else. It reads only `json` of a
 * success, and once: no body is written and read for that.
 */
export function jsonResponse(answer: JsonObject, status = 200): Response {
  if (status !== 200) return NativeResponse.json(answer, { status });
  return Object.assign(new NativeResponse(null), { json: async () => ({ ...answer }) });
}
