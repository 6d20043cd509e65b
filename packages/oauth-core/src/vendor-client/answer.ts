/**
 * A vendor's answer before anything is believed: status, content type and body, read once and
 * strictly. The first thing that happens to every answer.
 */
import type { Clock, JsonObject, JsonValue } from "../ports.ts";
import { parseParameters } from "../protocol/parameters.ts";
import { parseJsonStrict } from "../protocol/strict-json.ts";
import { invalidVendorResponse, type VendorCall, vendorUnavailable } from "./errors.ts";

const MAX_BODY_CHARACTERS = 262_144;

/**
 * @throws OAuthError temporarily_unavailable for 429, a 403 that says as much, and 5xx;
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

/** Older than 429, and still in use. */
function isOverLimit({ status, headers }: Response): boolean {
  return status === 403 && (headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after"));
}

/**
 * The body as a JSON object. JSON under another name (`text/plain`, `text/javascript`, none) is
 * taken for what it is; `text/html` is refused unread; a form body is taken where `acceptForm` says
 * so.
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
  if (body.length > MAX_BODY_CHARACTERS) throw invalidVendorResponse(`${call.what}: answer too large`);
  // `text()` drops a leading byte order mark, as the encoding standard says.
  const text = body.trimStart();
  const isForm = type === "application/x-www-form-urlencoded" || (type === "text/plain" && !text.startsWith("{"));
  try {
    const value = acceptForm && isForm ? parseForm(body.trim()) : parseJsonStrict(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw invalidVendorResponse(`${call.what}: unreadable body`, { cause });
  }
  throw invalidVendorResponse(`${call.what}: body is not an object`);
}

function parseForm(body: string): JsonObject {
  const parameters = parseParameters(body);
  return Object.fromEntries(parameters.names().map((name) => [name, parameters.require(name)]));
}

/** Node's own: the listener of @hono/node-server puts a lazy one in its place. */
const NativeResponse = globalThis.Response;

/** An answer that has been read, as a Response again: oauth4webapi takes nothing else. */
export function jsonResponse(answer: JsonObject, status = 200): Response {
  return NativeResponse.json(answer, { status });
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
