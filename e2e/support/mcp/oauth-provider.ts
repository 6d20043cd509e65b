/** What an author of an MCP client writes for the SDK's OAuth, over what they keep. */
import type { OAuthClientProvider } from "@modelcontextprotocol/client";

export interface Kept {
  discovered?: Parameters<NonNullable<OAuthClientProvider["saveDiscoveryState"]>>[0];
  registered?: Parameters<NonNullable<OAuthClientProvider["saveClientInformation"]>>[0];
  tokens?: Parameters<OAuthClientProvider["saveTokens"]>[0];
  codeVerifier?: string;
}

/** @param own the rest of the provider, and what it does otherwise */
export function oauthProvider(
  kept: Kept,
  callback: string,
  {
    name,
    ...own
  }: Pick<OAuthClientProvider, "redirectToAuthorization"> & Partial<OAuthClientProvider> & { readonly name: string },
): OAuthClientProvider {
  return {
    redirectUrl: callback,
    clientMetadata: { client_name: name, redirect_uris: [callback] },
    discoveryState: () => kept.discovered,
    saveDiscoveryState: (discovered) => void (kept.discovered = discovered),
    clientInformation: () => kept.registered,
    saveClientInformation: (registered) => void (kept.registered = registered),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    saveCodeVerifier: (codeVerifier) => void (kept.codeVerifier = codeVerifier),
    codeVerifier: () => kept.codeVerifier ?? "",
    state: () => "state-of-the-client",
    ...own,
  };
}
