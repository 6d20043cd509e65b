/**
 * The first checks of every vendor response: status, content type and body, read once and strictly.
 */
import type { Clock, JsonObject } from "../ports.ts";
import { parseParameters } from "../protocol/parameters.ts";
import { isJsonObject, parseJsonStrict } from "../protocol/strict-json.ts";
import { invalidVendorResponse, type VendorCall, vendorUnavailable } from "./errors.ts";

const MAX_BODY_CHARACTERS = 262_144;

/**
 * @throws OAuthError temporarily_unavailable for 429, a 403 that reports a rate limit, and 5xx;
 *   vendor_response_invalid for a redirect
 */
export function requireAnswer(response: Response, call: VendorCall, now: Clock): void {
  if (response.status === 429 || response.status >= 500 || isOverLimit(response))
    throw vendorUnavailable(response, call, now);
  //= bar#EG-12
  if (response.status < 200 || (response.status >= 300 && response.status < 400)) {
    throw invalidVendorResponse(`${call.what}: status ${response.status}`);
  }
}

/** A rate limit reported the older way, which is still in use. */
function isOverLimit({ status, headers }: Response): boolean {
  return status === 403 && (headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after"));
}

/**
 * The body as a JSON object. JSON under another type (`text/plain`, `text/javascript`, none) is
 * accepted; `text/html` is refused unread; a form body is accepted only with `acceptForm`.
 *
 * @throws OAuthError vendor_response_invalid
 */
export async function readObject(
  response: Response,
  call: VendorCall,
  { acceptForm = false } = {},
): Promise<JsonObject> {
  const type = (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "text/html" || type === "application/xhtml+xml")
    throw invalidVendorResponse(`${call.what}: answered ${type}`);
  const body = await response.text();
  if (body.length > MAX_BODY_CHARACTERS) throw invalidVendorResponse(`${call.what}: response too large`);
  // `text()` drops a leading byte order mark, as the encoding standard requires.
  const text = body.trimStart();
  const isForm = type === "application/x-www-form-urlencoded" || (type === "text/plain" && !text.startsWith("{"));
  try {
    const value = acceptForm && isForm ? parseForm(body.trim()) : parseJsonStrict(text);
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw invalidVendorResponse(`${call.what}: unreadable body`, { cause });
  }
  throw invalidVendorResponse(`${call.what}: body is not an object`);
}

function parseForm(body: string): JsonObject {
  const parameters = parseParameters(body);
  return Object.fromEntries(parameters.names().map((name) => [name, parameters.require(name)]));
}

/** Node's own: the listener of @hono/node-server replaces it with a lazy one. */
const NativeResponse = globalThis.Response;

/**
 * A parsed response as a Response again: oauth4webapi takes nothing else. Of a success it reads
 * `json` alone, and once: no body is written and read for that.
 */
export function jsonResponse(answer: JsonObject, status = 200): Response {
  if (status !== 200) return NativeResponse.json(answer, { status });
  return Object.assign(new NativeResponse(null), { json: async () => ({ ...answer }) });
}
