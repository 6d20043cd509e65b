/**
 * The one public client of the platform's callback, and its POST /register (RFC 7591): a caller
 * that registers the platform's redirect URI gets that client. Nothing is stored, and no value of
 * the request is returned.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import type { PlatformCallback } from "../../settings.ts";
import type { HostedClient } from "./client.ts";
import { readJsonObject, readRedirectUris, REGISTERED_METADATA } from "./client-metadata.ts";

export function platformClient({ redirectUri }: Pick<PlatformCallback, "redirectUri">): HostedClient {
  // The same id at every deployment.
  return { clientId: "platform", redirectUris: [redirectUri] };
}

/**
 * @param text the body as received
 * @throws OAuthError invalid_client_metadata; invalid_redirect_uri for any other than the
 *   platform's, byte for byte
 */
//= rfc7591#3.2.1
//= rfc7591#3.2.2
export function register(text: string, { clientId, redirectUris }: HostedClient): Answer {
  if (!readRedirectUris(readJsonObject(text)).every((uri) => redirectUris.includes(uri)))
    throw new OAuthError("invalid_redirect_uri", "redirect_uris must be the platform callback alone");
  return jsonAnswer(201, { client_id: clientId, redirect_uris: redirectUris, ...REGISTERED_METADATA });
}
