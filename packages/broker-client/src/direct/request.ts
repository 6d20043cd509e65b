/** A user starts: the content of their session, and the matching URL at the vendor. */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { createCodeVerifier, formatScope, parseScope, randomToken } from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { challengeFor, isIdTokenDue } from "@oauth-broker/oauth-core/brokered-code";
import { SESSION_SECONDS, type Session } from "../session.ts";
import type { StartRequest, VendorTarget } from "../types.ts";

const TOKEN_BYTES = 32;

/** An empty parameter is an absent one (RFC 6749 §3.1), and so is null: as it is through the broker. */
//= rfc6749#3.1
function withoutEmpty<Request extends object>(request: Request): Request {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => (value ?? "") !== "")) as Request;
}

export function newSession(
  { scope: requested, resource }: StartRequest,
  vendor: ResolvedVendor,
  fixed: Pick<Session, "context" | "clientId" | "redirectUri">,
  at: number,
): Session {
  const scope = requested === undefined ? vendor.defaultScopes : parseScope(requested);
  return {
    v: 1,
    ...fixed,
    state: randomToken(TOKEN_BYTES),
    //= bar#VR-1
    ...(vendor.pkce === "none" ? {} : { codeVerifier: createCodeVerifier() }),
    //= bar#VR-3
    ...(isIdTokenDue(vendor, scope) ? { nonce: randomToken(TOKEN_BYTES) } : {}),
    ...(scope.length === 0 ? {} : { scope: formatScope(scope) }),
    ...defined({ resource }),
    ...(vendor.issExpected ? { issExpected: true } : {}),
    expiresAt: at + SESSION_SECONDS,
  };
}

export function authorizationRequest(
  { state, codeVerifier, nonce, resource, clientId, redirectUri, scope }: Session,
  vendor: ResolvedVendor,
  { loginHint, prompt, vendorParams }: StartRequest,
): Parameters<VendorClient["authorizationUrl"]>[1] {
  return {
    clientId,
    redirectUri,
    state,
    scope: scope === undefined ? [] : parseScope(scope),
    ...defined({
      codeChallenge: challengeFor(vendor, codeVerifier),
      nonce,
      loginHint,
      prompt,
      resource,
      extra: vendorParams,
    }),
  };
}

/**
 * Vendor and credentials were set when the client was created: a request that names others is a
 * mistake.
 *
 * @returns the request without its empty members
 * @throws OAuthError invalid_request
 */
export function requireTarget<Request extends VendorTarget>(request: Request, id: string): Request {
  const given = withoutEmpty(request);
  const { vendor, byoc, issuer, endpoints, placeholders } = given;
  if (vendor !== undefined && vendor !== id) {
    throw new OAuthError("invalid_request", "This client is for another vendor");
  }
  if ((byoc ?? issuer ?? endpoints ?? placeholders) !== undefined) {
    throw new OAuthError(
      "invalid_request",
      "A direct client has one vendor and one set of credentials: make another client",
    );
  }
  return given;
}
