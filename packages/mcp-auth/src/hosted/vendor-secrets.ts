/**
 * PKCE #2 and the OpenID nonce of a flow, derived from the client's PKCE #1 challenge and the server key: none of them is
 * stored, and the vendor's code is worth nothing to who lacks the client's verifier. The same in every process.
 */
import { createHmac } from "node:crypto";
import { deriveCodeChallenge, deriveCodeVerifier, hasIdTokens, type ResolvedVendor } from "@oauth-broker/oauth-core";
import type { HostedDeps } from "./deps.ts";

export interface VendorSecrets {
  /** Absent where the vendor has no PKCE. */
  readonly codeVerifier?: string;
  /** As the vendor wants it: for `plain` the verifier. */
  readonly codeChallenge?: string;
  /** Present where an ID token is due. */
  readonly nonce?: string;
}

/**
 * @param codeChallenge PKCE #1, 43 characters
 * @param vendor its PKCE, and whether ID tokens come: by the deployment's scopes, since `/token` does not hear the flow's
 * @throws OAuthError temporarily_unavailable when the server key cannot be had
 */
//= bar#VR-1
export async function vendorSecrets(
  codeChallenge: string,
  vendor: ResolvedVendor,
  { serverKey, settings }: Pick<HostedDeps, "serverKey" | "settings">,
): Promise<VendorSecrets> {
  const isIdTokenDue = hasIdTokens(vendor) && settings.vendor.scopes.includes("openid");
  const nonce = isIdTokenDue ? deriveNonce(await serverKey.derive("vendor-nonce"), codeChallenge) : undefined;
  if (vendor.pkce === "none") return nonce === undefined ? {} : { nonce };
  const codeVerifier = deriveCodeVerifier(await serverKey.derive("vendor-pkce"), codeChallenge);
  return {
    codeVerifier,
    codeChallenge: vendor.pkce === "plain" ? codeVerifier : deriveCodeChallenge(codeVerifier),
    ...(nonce === undefined ? {} : { nonce }),
  };
}

function deriveNonce(key: Buffer, codeChallenge: string): string {
  return createHmac("sha256", key).update(`nonce\0${codeChallenge}`).digest("base64url");
}
