/**
 * Client metadata from outside, of a registration request or of a Client ID Metadata Document: the
 * members this server uses. Everything else is ignored: no logo is loaded, no policy linked. Both
 * are written for servers of every kind, so what can be replaced or left out is, and a client reads
 * in the answer to its registration what it got. `null` is absent.
 */
import { type JsonObject, type JsonValue, OAuthError, parseJsonObject } from "@oauth-broker/oauth-core";
import { requireRegistrableRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import type { ServerClient } from "./client.ts";

/** Stored, and answered to the client, if it states none. Pages say it in their language. */
export const UNNAMED = "An application without a name";

export type ClientMetadata = Pick<ServerClient, "clientName" | "redirectUris">;

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

/**
 * Every client is registered as a public one, for the code flow with refresh tokens, also if
 * it asks for an authentication method, a secret or a further grant: REGISTERED_METADATA says so.
 *
 * @throws OAuthError invalid_redirect_uri, invalid_client_metadata
 */
//= rfc7591#2
//= rfc7591#3.2.1
//= bar#AS-11
export function readRegistration(metadata: JsonObject): ClientMetadata {
  const { client_name, grant_types, response_types, token_endpoint_auth_method: method } = metadata;
  const redirectUris = readRedirectUris(metadata);
  if (isPresent(method) && typeof method !== "string") throw invalid("token_endpoint_auth_method must be a string");
  requireOneOf(grant_types, GRANT_TYPES, "grant_types");
  requireOneOf(response_types, RESPONSE_TYPES, "response_types");
  return { clientName: readName(client_name) ?? UNNAMED, redirectUris };
}

/**
 * @returns those of a registration that can be used: one of a private scheme is left out, any other
 *   fault of one refuses them all
 * @throws OAuthError invalid_redirect_uri, also if the list is then empty
 */
export function readRedirectUris({ redirect_uris }: JsonObject): readonly string[] {
  const redirectUris = readList(redirect_uris);
  if (redirectUris.length > MOST_REDIRECT_URIS)
    throw invalidRedirect(`must have at most ${MOST_REDIRECT_URIS} entries`);
  const usable = redirectUris.filter((uri) => !isOfPrivateScheme(uri));
  for (const uri of usable) requireRegistrableRedirectUri(uri);
  if (usable.length === 0) throw invalidRedirect("must have one that is https, or http on loopback");
  return usable;
}

const GRANT_TYPES = ["authorization_code", "refresh_token"];
const RESPONSE_TYPES = ["code"];

/** What every client of this server is registered with, regardless of its request. */
export const REGISTERED_METADATA = {
  token_endpoint_auth_method: "none",
  grant_types: GRANT_TYPES,
  response_types: RESPONSE_TYPES,
} as const;

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

/**
 * Schemes of the URL standard, and those that browsers run, show or read themselves: none of them
 * belongs to a program on the user's device.
 */
const PUBLIC_SCHEMES: ReadonlySet<string> = new Set(
  "https: http: wss: ws: ftp: file: filesystem: blob: data: about: javascript: vbscript: view-source: jar:".split(" "),
);

/**
 * A scheme that a program claims for itself (rfc8252#7.1). Any program can claim it, so MCP permits
 * https and loopback alone; clients list one beside those for other servers.
 */
//= rfc7591#3.2.1
//= bar#AS-11
function isOfPrivateScheme(uri: string): boolean {
  // Read as a browser reads it: in any case, and without the controls it drops.
  const url = URL.parse(uri);
  //= bar#AS-11
  return url !== null && !PUBLIC_SCHEMES.has(url.protocol);
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
  if (!isPresent(value)) return undefined;
  if (typeof value !== "string") throw invalid("client_name must be a string");
  const name = value.slice(0, LONGEST_NAME).toWellFormed().trim();
  return name === "" ? undefined : name;
}

/**
 * A document that lists every method it can use has only a preference among them.
 *
 * @throws OAuthError invalid_client_metadata if `none` is not one of them
 */
function requirePublic(document: JsonObject): void {
  const { token_endpoint_auth_method: preferred, token_endpoint_auth_methods_supported: supported } = document;
  const { client_secret: secret } = document;
  //= bar#AS-13
  const canBePublic = (preferred ?? "none") === "none" || (Array.isArray(supported) && supported.includes("none"));
  if (canBePublic && (secret ?? "") === "") return;
  throw invalid("token_endpoint_auth_method, or one of the methods supported, must be none: clients here are public");
}

function requireOneOf(value: JsonValue | undefined, usable: readonly string[], name: string): void {
  if (!isPresent(value) || (Array.isArray(value) && value.length === 0)) return;
  const isUsable =
    Array.isArray(value) &&
    value.every((item) => typeof item === "string") &&
    value.some((item) => usable.includes(item));
  if (!isUsable) throw invalid(`${name} must be a list with ${usable.join(" or ")}`);
}

function requireAmong(value: JsonValue | undefined, needed: string, name: string): void {
  if (!isPresent(value) || (Array.isArray(value) && value.includes(needed))) return;
  throw invalid(`${name} must include ${needed}`);
}

function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null;
}

function invalid(description: string): OAuthError {
  return new OAuthError("invalid_client_metadata", description);
}

function invalidRedirect(problem: string): OAuthError {
  return new OAuthError("invalid_redirect_uri", `redirect_uris ${problem}`);
}
