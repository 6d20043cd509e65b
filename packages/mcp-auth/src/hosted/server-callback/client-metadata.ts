/**
 * Client metadata from outside, of a registration request or of a Client ID Metadata Document: what this server needs of it,
 * checked the same way for both. Everything else is read by nobody: no logo is loaded, no policy linked.
 */
import { type JsonObject, type JsonValue, OAuthError, requireRegistrableRedirectUri } from "@oauth-broker/oauth-core";

export interface ClientMetadata {
  readonly clientName: string;
  readonly redirectUris: readonly string[];
}

const MOST_REDIRECT_URIS = 10;
const LONGEST_NAME = 200;

/**
 * @param unnamed what a client that gives no name is called
 * @throws OAuthError invalid_redirect_uri, invalid_client_metadata
 */
//= rfc7591#2
//= bar#AS-11
export function readClientMetadata(metadata: JsonObject, unnamed: string): ClientMetadata {
  const { redirect_uris, client_name, token_endpoint_auth_method, grant_types, response_types } = metadata;
  const redirectUris = readRedirectUris(redirect_uris);
  if ((token_endpoint_auth_method ?? "none") !== "none") {
    throw invalid("token_endpoint_auth_method must be none: clients of this server are public");
  }
  requireWithin(grant_types, ["authorization_code", "refresh_token"], "grant_types");
  requireWithin(response_types, ["code"], "response_types");
  return { clientName: readName(client_name, unnamed), redirectUris };
}

function readRedirectUris(value: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalidRedirect("redirect_uris must be a list with one at least");
  if (value.length > MOST_REDIRECT_URIS) throw invalidRedirect(`redirect_uris must be ${MOST_REDIRECT_URIS} at most`);
  return value.map((uri: JsonValue) => {
    if (typeof uri !== "string") throw invalidRedirect("redirect_uris must be strings");
    requireRegistrableRedirectUri(uri);
    return uri;
  });
}

function readName(value: JsonValue | undefined, unnamed: string): string {
  if (value === undefined) return unnamed;
  if (typeof value !== "string") throw invalid("client_name must be a string");
  return value.trim() === "" ? unnamed : value.slice(0, LONGEST_NAME);
}

function requireWithin(value: JsonValue | undefined, allowed: readonly string[], name: string): void {
  if (value === undefined) return;
  const isWithin = Array.isArray(value) && value.every((item) => typeof item === "string" && allowed.includes(item));
  if (!isWithin) throw invalid(`${name} must be of ${allowed.join(" and ")}`);
}

function invalid(description: string): OAuthError {
  return new OAuthError("invalid_client_metadata", description);
}

function invalidRedirect(description: string): OAuthError {
  return new OAuthError("invalid_redirect_uri", description);
}
