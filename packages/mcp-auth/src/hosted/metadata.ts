/**
 * The metadata documents: this authorization server (RFC 8414) and its resource (RFC 9728). Every
 * URL is built from `DEPLOYMENT_URL`, never from a request. All of it is public: pages of every
 * origin may read it, which ../origins.ts says with every answer.
 */
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import { scopesOfResource } from "../resource/scopes.ts";
import type { HostedSettings } from "../settings.ts";
import type { HostedDeps } from "./deps.ts";
import { PATHS, resourceOf } from "../resource/paths.ts";
import { supportedScopes } from "./link-policy/scope.ts";

/**
 * @throws OAuthError as VendorClient.resolve: with metadata that lacks `vendor_issuer` the platform
 *   would refuse the vendor
 */
//= rfc8414#2
//= bar#AS-17
export async function authorizationServerMetadata({
  settings: { deploymentUrl, callback, links, vendor },
  vendorClient,
}: Pick<HostedDeps, "settings" | "vendorClient">): Promise<Answer> {
  const url = (path: string): string => deploymentUrl + path;
  const isRegistering = callback.kind === "platform" ? callback.registers : callback.registration !== undefined;
  const ofCallback =
    callback.kind === "platform"
      ? vendorIssuer(await vendorClient.resolve(vendor.vendor))
      : {
          authorization_response_iss_parameter_supported: true,
          client_id_metadata_document_supported: callback.clientMetadataHosts.length > 0,
        };
  return jsonAnswer(200, {
    issuer: deploymentUrl,
    authorization_endpoint: url(PATHS.authorize),
    token_endpoint: url(PATHS.token),
    revocation_endpoint: url(PATHS.revoke),
    ...(isRegistering ? { registration_endpoint: url(PATHS.register) } : {}),
    scopes_supported: supportedScopes(links),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    ...ofCallback,
  });
}

/**
 * The authorization response is the vendor's own: its `iss` is the vendor's, and the platform must
 * know which.
 */
//= rfc9207#2.4
function vendorIssuer({ issExpected, issuer, issuerTemplate }: ResolvedVendor): { vendor_issuer?: string } {
  return issExpected && issuer !== undefined && issuerTemplate === undefined ? { vendor_issuer: issuer } : {};
}

/**
 * @returns for the log at start: what standard clients will refuse here. Undefined also while the
 *   vendor cannot be reached
 */
export async function vendorIssuerWarning({
  settings,
  vendorClient,
}: Pick<HostedDeps, "settings" | "vendorClient">): Promise<string | undefined> {
  if (settings.callback.kind === "server") return undefined;
  const vendor = await vendorClient.resolve(settings.vendor.vendor).catch(() => undefined);
  if (vendor?.issExpected !== true) return undefined;
  return "VENDOR names itself (iss) in its answers, which clients that do not read vendor_issuer in our metadata refuse: set OAUTH_CALLBACK=server for those";
}

//= rfc9728#2
export function protectedResourceMetadata(settings: HostedSettings): Answer {
  const { deploymentUrl } = settings;
  const described = {
    resource: resourceOf(deploymentUrl),
    authorization_servers: [deploymentUrl],
    scopes_supported: scopesOfResource(supportedScopes(settings.links)),
    bearer_methods_supported: ["header"],
  };
  return jsonAnswer(200, described);
}
