/**
 * PKCE #2 and the OpenID nonce of a flow: derived from a server key and the flow id, so that neither is ever stored
 * and a reload of /v1/authorize gives the same vendor URL. The record names the key generation.
 */
import { createHmac } from "node:crypto";
import { deriveCodeChallenge, deriveCodeVerifier, type ResolvedVendor } from "@oauth-broker/oauth-core";

export interface FlowSecrets {
  /** Absent where the vendor has no PKCE. */
  readonly codeVerifier?: string;
  readonly codeChallenge?: string;
  /** Present when an ID token is due. */
  readonly nonce?: string;
}

//= bar#VR-1
//= bar#VR-3
export function flowSecrets(
  key: Buffer,
  flowId: string,
  vendor: ResolvedVendor,
  scope: readonly string[],
): FlowSecrets {
  const codeVerifier = vendor.pkce === "none" ? undefined : deriveCodeVerifier(key, flowId);
  return {
    ...(codeVerifier === undefined ? {} : { codeVerifier, codeChallenge: challengeFor(vendor, codeVerifier) }),
    ...(isIdTokenDue(vendor, scope)
      ? { nonce: createHmac("sha256", key).update(`nonce\0${flowId}`).digest("base64url") }
      : {}),
  };
}

export function isIdTokenDue(
  { issuer, issuesIdTokens }: Pick<ResolvedVendor, "issuer" | "issuesIdTokens">,
  scope: readonly string[],
): boolean {
  return issuer !== undefined && issuesIdTokens !== false && scope.includes("openid");
}

function challengeFor(vendor: ResolvedVendor, codeVerifier: string): string {
  return vendor.pkce === "plain" ? codeVerifier : deriveCodeChallenge(codeVerifier);
}
