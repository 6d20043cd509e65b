/**
 * Which tokens a connection came with. If clients of several owners share the broker's client at
 * a vendor, the vendor cannot distinguish their tokens: there a refresh, a revocation and a check
 * take a token only beside the connection of the same answer, which holds a keyed hash of it
 * (docs/decisions/0063).
 */
import { hmac, OAuthError } from "@oauth-broker/oauth-core";
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { VendorChoice } from "../vendor-choice/choose.ts";
import { needsOwnerPage } from "../vendor-choice/registrations.ts";
import type { Connection, TokenHashes } from "./connection.ts";

type TokenKind = keyof TokenHashes;

/** A token as a caller presents it, and what it may be. */
export interface PresentedToken {
  readonly value: string;
  readonly kinds: readonly TokenKind[];
}

/** This many bytes of a hash of 32 bytes: no other token is found for a given hash. */
const HASH_BYTES = 16;

/**
 * @returns the connection with the hashes of new tokens, instead of those of the tokens before
 *   them; without any if they are not needed
 */
export function bindTokens(
  { tokens: _before, ...connection }: Connection,
  { accessToken, refreshToken }: Pick<VendorTokens, "accessToken" | "refreshToken">,
  choice: VendorChoice,
  client: ClientConfig,
  { keyset, registrations }: Pick<Deps, "keyset" | "registrations">,
): Connection {
  // A client with an owner has them before there is another owner: so no grant ends on that day.
  if (client.owner === undefined && !needsOwnerPage(choice, client, registrations)) return connection;
  const { key } = keyset.active("connection-tokens");
  const refresh = refreshToken === undefined ? {} : { refresh: hashOf(refreshToken, key) };
  return { ...connection, tokens: { access: hashOf(accessToken, key), ...refresh } };
}

/**
 * @param origin undefined when the caller named the vendor only
 * @throws OAuthError invalid_request without a connection; invalid_grant, reason
 *   `connection_mismatch`, for a token of another answer, and beside a connection that knows none
 */
//= bar#RF-7
//= rfc6749#10.4
export async function requireItsToken(
  origin: { readonly connection: Pick<Connection, "tokens">; readonly kid: string } | undefined,
  { value, kinds }: PresentedToken,
  { keyset }: Pick<Deps, "keyset">,
): Promise<void> {
  if (origin === undefined) {
    throw new OAuthError("invalid_request", "Several organizations share this vendor client: send the connection", {
      reason: "connection_required",
    });
  }
  const { tokens } = origin.connection;
  const key = tokens === undefined ? undefined : await keyset.find("connection-tokens", origin.kid);
  if (key !== undefined && kinds.some((kind) => isSameText(tokens?.[kind], hashOf(value, key)))) return;
  throw new OAuthError("invalid_grant", "The token did not come with this connection: the user must authorize again", {
    reason: "connection_mismatch",
    ...(tokens === undefined ? { detail: "the connection was issued before its vendor client was shared" } : {}),
  });
}

function hashOf(token: string, key: Buffer): string {
  return hmac("sha256", key, token).toString("base64url", 0, HASH_BYTES);
}
