/** What a caller may say to POST /register: which vendor, and an initial access token of its own. First step of register.ts. */
import { type JsonObject, type JsonValue, OAuthError, parseJsonStrict, Secret } from "@oauth-broker/oauth-core";

export interface RegisterRequest {
  readonly vendor: string;
  readonly initialAccessToken?: Secret;
}

/** What may stand behind `Bearer ` in a header. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/**
 * Members beyond these two are ignored, like unknown parameters elsewhere: `redirect_uris` most of all.
 *
 * @param text the body as received
 * @throws OAuthError invalid_request
 */
//= bar#HT-3
export function readRegisterRequest(text: string): RegisterRequest {
  const body = parseObject(text);
  const vendor = textMember(body, "vendor");
  if (vendor === undefined) throw new OAuthError("invalid_request", "vendor is missing");
  const token = textMember(body, "initial_access_token");
  if (token !== undefined && !TOKEN.test(token)) {
    throw new OAuthError("invalid_request", "initial_access_token must be visible ASCII of at most 4096 characters");
  }
  return { vendor, ...(token === undefined ? {} : { initialAccessToken: new Secret(token) }) };
}

function parseObject(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJsonStrict(text);
  } catch (cause) {
    throw notAnObject(cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notAnObject();
  // The guard leaves readonly arrays in the type.
  return value as JsonObject;
}

/** An empty text is an absent one. */
function textMember(body: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw new OAuthError("invalid_request", `${name} must be a string`);
  return value;
}

function notAnObject(cause?: unknown): OAuthError {
  return new OAuthError("invalid_request", "The body must be one JSON object, each name in it once", { cause });
}
