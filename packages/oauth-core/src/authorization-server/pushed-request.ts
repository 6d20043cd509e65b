/**
 * RFC 9126: what every pushed authorization request must hold, for any vendor. Before it: client
 * authentication. After it: the broker chooses the vendor (apps/broker/src/flows/par.ts).
 */
import { OAuthError } from "../protocol/errors.ts";
import type { Parameters } from "../protocol/parameters.ts";
import { requireS256Challenge } from "../protocol/pkce.ts";
import type { Client } from "./client.ts";
import { createHandle, type Handle, parseHandle } from "./handle.ts";
import { type VerifiedRedirect, verifyRedirectUri } from "./redirect-uri.ts";

/**
 * The state is kept with the flow and returned in a URL, and browsers and servers truncate or
 * refuse long URLs.
 */
const MAX_STATE_LENGTH = 4096;

const REQUEST_URI_PREFIX = "urn:ietf:params:oauth:request_uri:";

export interface PushedRequest {
  readonly redirect: VerifiedRedirect;
  /** PKCE #1, always S256. */
  readonly codeChallenge: string;
  /** Echoed byte for byte; absent when the client sent none. */
  readonly state: string | undefined;
}

/**
 * The checks that do not depend on the other parameters.
 *
 * @throws OAuthError invalid_request
 */
export function requireAllowedParameters(parameters: Parameters): void {
  //= rfc9126#2.1
  if (parameters.has("request_uri") || parameters.has("request")) {
    throw new OAuthError("invalid_request", "request and request_uri are not accepted here");
  }
  if ((parameters.get("response_type") ?? "code") !== "code") {
    throw new OAuthError("invalid_request", "response_type must be code");
  }
  if ((parameters.get("response_mode") ?? "query") !== "query") {
    throw new OAuthError("invalid_request", "response_mode must be query or absent");
  }
  if ((parameters.get("state") ?? "").length > MAX_STATE_LENGTH) {
    throw new OAuthError("invalid_request", `state is longer than ${MAX_STATE_LENGTH} characters`);
  }
}

/** @throws OAuthError invalid_request */
export function readPushedRequest(parameters: Parameters, client: Client): PushedRequest {
  requireAllowedParameters(parameters);
  if (parameters.require("client_id") !== client.clientId) {
    throw new OAuthError("invalid_request", "client_id is not the authenticated client");
  }
  parameters.require("response_type");
  const redirect = verifyRedirectUri(parameters.require("redirect_uri"), client.redirectUris);
  //= rfc7636#4.4.1
  const codeChallenge = requireS256Challenge(parameters.get("code_challenge"), parameters.get("code_challenge_method"));
  return { redirect, codeChallenge, state: parameters.get("state") };
}

export function createRequestUri(flowId: string): { readonly requestUri: string; readonly hash: string } {
  const handle = createHandle(flowId);
  return { requestUri: REQUEST_URI_PREFIX + handle.value, hash: handle.hash };
}

/** @returns undefined when the value cannot be one of our own */
export function parseRequestUri(requestUri: string): Handle | undefined {
  return requestUri.startsWith(REQUEST_URI_PREFIX)
    ? parseHandle(requestUri.slice(REQUEST_URI_PREFIX.length))
    : undefined;
}
