/**
 * `connection`: an opaque value in every token answer that names the origin of the tokens, so that
 * refresh and revoke use exactly that and never guess. Sealed under the keyset and bound to the
 * client; nothing is stored.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { tokenHosts } from "@oauth-broker/oauth-core/client";
import { open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";
import type { Account } from "./account.ts";
import type { VendorChoice } from "../vendor/choose.ts";
import { targetFields, type VendorTarget } from "../vendor/request.ts";

export interface Connection extends VendorTarget {
  readonly v: 1;
  readonly credentialsId: string;
  readonly credentialsSource: "shared" | "byoc" | "environment";
  /**
   * BYOC: the client's own id at the vendor, and whether it had a secret. The secret itself is
   * never kept.
   */
  readonly vendorClientId?: string;
  readonly hadSecret?: boolean;
  /**
   * The vendor's hosts for tokens, refresh and revocation: a token is never sent to any other host
   * (bar#BY-4).
   */
  readonly hosts: readonly string[];
  /**
   * The account (account.ts): issuer and subject of the first ID token, otherwise of userinfo. A
   * refreshed ID token must name the same account.
   */
  readonly iss?: string;
  readonly sub?: string;
}

export function connectionOf(
  { vendor, credentials, target }: Pick<VendorChoice, "vendor" | "credentials" | "target">,
  account: Account | undefined,
): Connection {
  const { id, source, clientId, clientSecret } = credentials;
  return {
    v: 1,
    vendor: vendor.id,
    ...targetFields(target),
    credentialsId: id,
    credentialsSource: source,
    ...(source === "byoc" ? { vendorClientId: clientId, hadSecret: clientSecret !== undefined } : {}),
    hosts: tokenHosts(vendor),
    ...account,
  };
}

export function sealConnection(connection: Connection, clientId: string, { keyset }: Pick<Deps, "keyset">): string {
  const { kid, key } = keyset.active("connection");
  return `${kid}.${seal(key, JSON.stringify(connection), ["connection", clientId])}`;
}

/** Returns the value that a client presented; seals it anew only when a newer key is active. */
export function resealConnection(
  presented: string,
  connection: Connection,
  clientId: string,
  { keyset }: Pick<Deps, "keyset">,
): string {
  const isCurrent = presented.startsWith(`${keyset.active("connection").kid}.`);
  return isCurrent ? presented : sealConnection(connection, clientId, { keyset });
}

/** @throws OAuthError invalid_request when the value was altered or belongs to another client */
export async function openConnection(
  value: string,
  clientId: string,
  { keyset }: Pick<Deps, "keyset">,
): Promise<Connection> {
  const dot = value.indexOf(".");
  const key = await keyset.find("connection", value.slice(0, Math.max(dot, 0)));
  if (key === undefined) throw notOurs("unknown key");
  let text: string;
  try {
    text = open(key, value.slice(dot + 1), ["connection", clientId]).toString("utf8");
  } catch (cause) {
    throw notOurs("does not open for this client", cause);
  }
  const connection = JSON.parse(text) as { readonly v: number };
  if (connection.v !== 1) throw notOurs("another format");
  return connection as Connection;
}

function notOurs(detail: string, cause?: unknown): OAuthError {
  return new OAuthError("invalid_request", "connection is not one of this client", { detail, cause });
}
