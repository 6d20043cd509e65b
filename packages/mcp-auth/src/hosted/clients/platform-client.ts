/**
 * The one public client of the platform's callback, and its POST /register (RFC 7591): a caller
 * that registers the platform's redirect URI gets that client. Nothing is stored, and none of the
 * caller's values is returned.
 */
import { type JsonObject, OAuthError } from "@oauth-broker/oauth-core";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import type { PlatformCallback } from "../../settings.ts";
import type { HostedClient } from "./client.ts";
import { readJsonObject } from "./client-metadata.ts";

/** The client id of the platform, the same at every deployment. */
export const PLATFORM_CLIENT_ID = "platform";

export function platformClient({ redirectUri }: Pick<PlatformCallback, "redirectUri">): HostedClient {
  return { clientId: PLATFORM_CLIENT_ID, redirectUris: [redirectUri] };
}

/**
 * @param text the body as received
 * @throws OAuthError invalid_client_metadata; invalid_redirect_uri for any other than the
 *   platform's, byte for byte
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

//= rfc7591#3.2.2
function requireOwnRedirectUris({ redirect_uris: requested }: JsonObject, redirectUris: readonly string[]): void {
  const isOwn =
    Array.isArray(requested) &&
    requested.length > 0 &&
    requested.every((uri) => typeof uri === "string" && redirectUris.includes(uri));
  if (!isOwn) throw new OAuthError("invalid_redirect_uri", "redirect_uris must be the platform callback alone");
}
