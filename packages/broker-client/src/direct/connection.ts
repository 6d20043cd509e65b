/**
 * `connection` of a direct client: which vendor, client and person the tokens are of, and which hosts knew them. It holds no
 * secret and is not sealed: it comes back from the deployment's own store, as the tokens do.
 */
import { OAuthError, type ResolvedVendor, type VendorTokens } from "@oauth-broker/oauth-core";

export interface DirectConnection {
  readonly v: 1;
  readonly vendor: string;
  readonly clientId: string;
  /** Of the token endpoint and of the one that refreshes. */
  readonly hosts: readonly string[];
  /** Of the first ID token. */
  readonly iss?: string;
  readonly sub?: string;
}

export function connectionOf(vendor: ResolvedVendor, clientId: string, idToken: VendorTokens["idToken"]): string {
  const connection: DirectConnection = {
    v: 1,
    vendor: vendor.id,
    clientId,
    hosts: hostsOf(vendor),
    ...(idToken === undefined ? {} : { iss: idToken.issuer, sub: idToken.subject }),
  };
  return Buffer.from(JSON.stringify(connection)).toString("base64url");
}

/**
 * @throws OAuthError invalid_request for one that is not of this vendor and client; invalid_grant, reason
 *   `connection_endpoint_changed`, where its tokens would go to a host that does not know them
 */
//= bar#BY-4
export function requireConnection(connection: string, vendor: ResolvedVendor, clientId: string): DirectConnection {
  const found = parse(connection);
  if (found?.vendor !== vendor.id || found.clientId !== clientId) {
    throw new OAuthError("invalid_request", "The connection is not of this vendor and client");
  }
  if (!hostsOf(vendor).every((host) => found.hosts.includes(host))) {
    throw new OAuthError("invalid_grant", "The vendor's endpoint moved: the user must authorize again", {
      reason: "connection_endpoint_changed",
    });
  }
  return found;
}

function hostsOf({ tokenEndpoint, refreshEndpoint = tokenEndpoint }: ResolvedVendor): string[] {
  return [...new Set([new URL(tokenEndpoint).host, new URL(refreshEndpoint).host])];
}

function parse(connection: string): DirectConnection | undefined {
  try {
    const value = JSON.parse(Buffer.from(connection, "base64url").toString()) as Partial<DirectConnection> | null;
    return value?.v === 1 && Array.isArray(value.hosts) ? (value as DirectConnection) : undefined;
  } catch {
    return undefined;
  }
}
