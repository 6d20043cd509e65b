/**
 * POST /register with the platform's callback (RFC 7591): whoever registers the platform's redirect URI gets the one public
 * client there is. Nothing is stored, and nothing of what the caller says comes back.
 */
import { type JsonObject, type JsonValue, OAuthError, parseJsonStrict } from "@oauth-broker/oauth-core";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/hono";
import type { HostedClient } from "./client.ts";

/**
 * @param text the body as received
 * @throws OAuthError invalid_client_metadata; invalid_redirect_uri for any other than the platform's, byte for byte
 */
//= rfc7591#3.2.1
export function register(text: string, { clientId, redirectUris }: HostedClient): Answer {
  requireOwnRedirectUris(readJsonObject(text), redirectUris);
  return jsonAnswer(201, {
    client_id: clientId,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
}

/** @throws OAuthError invalid_client_metadata */
export function readJsonObject(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJsonStrict(text);
  } catch (cause) {
    throw notMetadata(cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notMetadata();
  // The guard leaves readonly arrays in the type.
  return value as JsonObject;
}

//= rfc7591#3.2.2
function requireOwnRedirectUris({ redirect_uris: wished }: JsonObject, redirectUris: readonly string[]): void {
  const isOwn =
    Array.isArray(wished) &&
    wished.length > 0 &&
    wished.every((uri) => typeof uri === "string" && redirectUris.includes(uri));
  if (!isOwn) throw new OAuthError("invalid_redirect_uri", "redirect_uris must be the platform callback alone");
}

function notMetadata(cause?: unknown): OAuthError {
  return new OAuthError("invalid_client_metadata", "The body must be one JSON object, each name in it once", { cause });
}
