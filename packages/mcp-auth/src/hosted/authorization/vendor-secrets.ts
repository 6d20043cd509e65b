/**
 * PKCE #2 and the OpenID nonce of a flow, derived from the server key, the same in every process.
 * With the platform's callback the flow's name is the client's PKCE #1 challenge: no record is
 * needed, and the vendor's code is useless without the client's verifier.
 */
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { type FlowSecrets, flowSecrets } from "@oauth-broker/oauth-core/brokered-code";
import type { HostedDeps } from "../deps.ts";

/**
 * @param name PKCE #1, 43 characters, or the id of the flow's record
 * @param vendor its PKCE, and whether it issues ID tokens
 * @param scope of the flow, or the deployment's if `/token` does not know the flow's: without
 *   `openid` it has no nonce
 * @throws OAuthError temporarily_unavailable when the server key is not available
 */
//= bar#VR-1
export async function vendorSecrets(
  name: string,
  vendor: ResolvedVendor,
  scope: readonly string[],
  { serverKey }: Pick<HostedDeps, "serverKey">,
): Promise<FlowSecrets> {
  const pkce = await serverKey.derive("vendor-pkce");
  const nonce = await serverKey.derive("vendor-nonce");
  return flowSecrets({ pkce, nonce }, name, vendor, scope);
}
