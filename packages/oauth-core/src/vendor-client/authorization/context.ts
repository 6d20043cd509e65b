/**
 * Everything that decides where codes and secrets go, as one hash. Taken when a flow starts and
 * compared on every later leg: a flow that began with one client, vendor or set of endpoints cannot
 * continue with another.
 */
import { hash } from "node:crypto";
import type { ResolvedVendor } from "../../vendors/vendor.ts";

/** What the hash of a connection context is made of. */
export interface ConnectionContextInput {
  readonly vendor: ResolvedVendor;
  /** Our client id at the vendor. */
  readonly clientId: string;
  readonly credentialsId: string;
  /** The client of ours that made the request. */
  readonly platformClientId: string;
  /** Where the vendor sends the browser back. */
  readonly redirectUri: string;
  /** The values of the entry's placeholders. */
  readonly placeholders?: Readonly<Record<string, string>>;
}

/** @returns SHA-256 over the fields, each with its length before it, base64url, 43 characters */
//= bar#XA-5
//= bar#DI-3
export function connectionContext(input: ConnectionContextInput): { readonly hash: string } {
  const { vendor } = input;
  let text = "";
  for (const field of [
    "connection-context-1",
    vendor.id,
    vendor.issuer,
    vendor.authorizationEndpoint,
    vendor.tokenEndpoint,
    vendor.refreshEndpoint,
    vendor.revocationEndpoint,
    vendor.jwksUri,
    vendor.pkce,
    vendor.tokenEndpointAuthMethod,
    input.clientId,
    input.credentialsId,
    input.platformClientId,
    input.redirectUri,
    // Placeholders come after the fields that are always there, so that a flow without any keeps
    // the hash of earlier releases.
    ...Object.entries(input.placeholders ?? {})
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flat(),
  ]) {
    // An absent field is not an empty one.
    text += field === undefined ? "-:" : `${Buffer.byteLength(field)}:${field}`;
  }
  return { hash: hash("sha256", text, "base64url") };
}
