/** The URL the browser came back to, checked before its content is used. */
import { BrokerClientError } from "./error.ts";

/**
 * @param callbackUrl absolute, or path and query of the request
 * @returns the query as sent, without `?`
 * @throws BrokerClientError invalid_callback when the path is not that of the redirect URI
 */
//= rfc9700#4.4.2.2
export function queryOfCallback(callbackUrl: string | URL, redirectUri: string): string {
  if (!URL.canParse(callbackUrl, redirectUri)) throw invalidCallback("malformed", "The callback is not a URL");
  const url = new URL(callbackUrl, redirectUri);
  // Behind a proxy that ends TLS, scheme and host are the proxy's; the path is ours.
  //= rfc9700#4.4.2.2
  if (url.pathname !== new URL(redirectUri).pathname) {
    throw invalidCallback("wrong_path", "The callback is not at the redirect URI of this client");
  }
  return url.search.slice(1);
}

export function invalidCallback(reason: string, description: string): BrokerClientError {
  return new BrokerClientError("invalid_callback", description, { reason });
}
