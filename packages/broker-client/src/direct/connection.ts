/**
 * `connection` of a direct client: the vendor, client and user of the tokens, and the hosts they
 * may be sent to. It holds no secret and is not sealed: it comes back from the deployment's own
 * store, as the tokens do.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { keptOf } from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";

export interface DirectConnection {
  /** 1: `hosts` does not include the revocation endpoint. A refresh returns version 2. */
  readonly v: 1 | 2;
  readonly vendor: string;
  readonly clientId: string;
  /** The hosts of the token, refresh and revocation endpoints. */
  readonly hosts: readonly string[];
  /**
   * The hosts of the endpoints that say whether an access token is good: a check sends it to these
   * and `hosts`. Absent in a connection of an earlier release, until a refresh.
   */
  readonly checkHosts?: readonly string[];
  /** From the first ID token. */
  readonly iss?: string;
  readonly sub?: string;
  /** Parameters of the callback that the vendor requires again with every refresh. */
  readonly callbackData?: Readonly<Record<string, string>>;
}

/** @param first issuer and subject of the first ID token; undefined when there was none */
export function connectionOf(
  vendor: ResolvedVendor,
  clientId: string,
  first: { readonly issuer: string; readonly subject: string } | undefined,
  callbackData: Readonly<Record<string, string>> = {},
): string {
  const connection: DirectConnection = {
    v: 2,
    vendor: vendor.id,
    clientId,
    ...keptOf(vendor, callbackData),
    ...(first === undefined ? {} : { iss: first.issuer, sub: first.subject }),
  };
  return format(connection);
}

/** The same connection; one of an earlier release learns the hosts of the vendor that has just refreshed it. */
export function withCheckHosts(connection: DirectConnection, vendor: ResolvedVendor): string {
  return format({ checkHosts: keptOf(vendor).checkHosts, ...connection });
}

function format(connection: DirectConnection): string {
  return Buffer.from(JSON.stringify(connection)).toString("base64url");
}

/** @throws OAuthError invalid_request for a connection of another vendor or client */
export function requireConnection(connection: string, vendor: ResolvedVendor, clientId: string): DirectConnection {
  const found = parse(connection);
  if (found?.vendor !== vendor.id || found.clientId !== clientId) {
    throw new OAuthError("invalid_request", "The connection belongs to another vendor or client");
  }
  return found;
}

/** @returns the subject that a refreshed ID token must name too */
export function firstSubject({ iss, sub }: Partial<DirectConnection>) {
  return iss === undefined || sub === undefined ? undefined : { issuer: iss, subject: sub };
}

function parse(connection: string): DirectConnection | undefined {
  try {
    const value = JSON.parse(Buffer.from(connection, "base64url").toString()) as Partial<DirectConnection> | null;
    return (value?.v === 1 || value?.v === 2) && Array.isArray(value.hosts) ? (value as DirectConnection) : undefined;
  } catch {
    return undefined;
  }
}
