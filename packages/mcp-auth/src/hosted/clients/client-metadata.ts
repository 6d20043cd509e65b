/**
 * Client metadata from outside, of a registration request or of a Client ID Metadata Document: the
 * members this server uses. Everything else is ignored: no logo is loaded, no policy linked. A
 * registration is for this server alone, so an unsupported member refuses it; a document is for
 * every server, so unsupported members are left out.
 */
import { type JsonObject, type JsonValue, OAuthError, parseJsonObject } from "@oauth-broker/oauth-core";
import { requireRegistrableRedirectUri } from "@oauth-broker/oauth-core/protocol";

export interface ClientMetadata {
  readonly clientName: string;
  readonly redirectUris: readonly string[];
}

const MOST_REDIRECT_URIS = 10;
const LONGEST_NAME = 200;

/**
 * @param text the body of a registration request, as received
 * @throws OAuthError invalid_client_metadata
 */
export function readJsonObject(text: string): JsonObject {
  try {
    return parseJsonObject(text);
  } catch (cause) {
    const description = "The body must be a JSON object without duplicate names";
    throw new OAuthError("invalid_client_metadata", description, { cause });
  }
}

/** @throws OAuthError invalid_redirect_uri, invalid_client_metadata */
//= rfc7591#2
//= bar#AS-11
export function readRegistration(metadata: JsonObject): ClientMetadata {
  const { redirect_uris, client_name, grant_types, response_types } = metadata;
  const redirectUris = readList(redirect_uris);
  if (redirectUris.length > MOST_REDIRECT_URIS)
    throw invalidRedirect(`must have at most ${MOST_REDIRECT_URIS} entries`);
  for (const uri of redirectUris) requireRegistrableRedirectUri(uri);
  requirePublic(metadata);
  requireWithin(grant_types, ["authorization_code", "refresh_token"], "grant_types");
  requireWithin(response_types, ["code"], "response_types");
  return { clientName: readName(client_name) ?? "An application without a name", redirectUris };
}

/** @throws OAuthError invalid_redirect_uri, invalid_client_metadata */
//= bar#AS-13
export function readDocumentMetadata(document: JsonObject): ClientMetadata {
  const { redirect_uris, client_name, grant_types, response_types } = document;
  const clientName = readName(client_name);
  if (clientName === undefined) throw invalid("client_name is missing");
  const redirectUris = readList(redirect_uris).filter(isRegistrable);
  if (redirectUris.length === 0) throw invalidRedirect("must have one this server can send users to");
  requirePublic(document);
  requireAmong(grant_types, "authorization_code", "grant_types");
  requireAmong(response_types, "code", "response_types");
  return { clientName, redirectUris };
}

function readList(value: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) throw invalidRedirect("must be a non-empty array");
  if (!value.every((uri: JsonValue): uri is string => typeof uri === "string"))
    throw invalidRedirect("must be strings");
  return value;
}

function isRegistrable(uri: string): boolean {
  try {
    requireRegistrableRedirectUri(uri);
    return true;
  } catch {
    return false;
  }
}

/** @returns undefined when the metadata has no name */
function readName(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid("client_name must be a string");
  const name = value.slice(0, LONGEST_NAME).toWellFormed().trim();
  return name === "" ? undefined : name;
}

function requirePublic({ token_endpoint_auth_method: method, client_secret: secret }: JsonObject): void {
  if ((method ?? "none") === "none" && secret === undefined) return;
  throw invalid("token_endpoint_auth_method must be none: clients of this server are public");
}

function requireWithin(value: JsonValue | undefined, allowed: readonly string[], name: string): void {
  if (value === undefined) return;
  const isWithin = Array.isArray(value) && value.every((item) => typeof item === "string" && allowed.includes(item));
  if (!isWithin) throw invalid(`${name} may contain only ${allowed.join(" and ")}`);
}

function requireAmong(value: JsonValue | undefined, needed: string, name: string): void {
  if (value === undefined || (Array.isArray(value) && value.includes(needed))) return;
  throw invalid(`${name} must include ${needed}`);
}

function invalid(description: string): OAuthError {
  return new OAuthError("invalid_client_metadata", description);
}

function invalidRedirect(problem: string): OAuthError {
  return new OAuthError("invalid_redirect_uri", `redirect_uris ${problem}`);
}
