/**
 * The refresh token of a client with `refresh_tokens: sealed`: an opaque value with the vendor's
 * refresh token and its connection inside, bound to the client. So a refresh or a
 * revocation needs nothing beside it, and any OAuth library can send it. Sealed under the keyset;
 * nothing is stored. It opens under any present setting of the client.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import { open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";
import { type Connection, kidOf } from "./connection.ts";

/** No vendor's token begins so. The number is the format's. */
const PREFIX = "sealed1.";
const PURPOSE = "refresh-token";
/** The limit for what is inside: the value then has at most 22 KB, and fits into a request with all else. */
const MOST_BYTES = 16 * 1024;

/** What is inside. */
export interface SealedGrant {
  /** The vendor's. */
  readonly refreshToken: string;
  readonly connection: Connection;
  /** The id of the key that it is sealed under. */
  readonly kid: string;
}

interface Sealed extends Omit<SealedGrant, "kid"> {
  /** The format, 1. */
  readonly v: number;
  readonly clientId: string;
}

/** @returns undefined if the vendor's token is too long to be sealed */
export function sealRefreshToken(
  refreshToken: string,
  connection: Connection,
  clientId: string,
  { keyset }: Pick<Deps, "keyset">,
): string | undefined {
  const inside: Sealed = { v: 1, clientId, refreshToken, connection };
  const text = JSON.stringify(inside);
  if (Buffer.byteLength(text) > MOST_BYTES) return undefined;
  const { kid, key } = keyset.active(PURPOSE);
  return `${PREFIX}${kid}.${seal(key, text, [PURPOSE])}`;
}

/**
 * A token of this form that does not open is not a vendor's token either.
 *
 * @param unreadable thrown when it does not open: altered, or of a keyset that is lost
 * @returns undefined for the vendor's own token
 * @throws OAuthError invalid_grant when it is another client's
 */
//= bar#RF-7
//= rfc6749#10.4
export async function readSealedGrant(
  token: string | undefined,
  clientId: string,
  { keyset }: Pick<Deps, "keyset">,
  unreadable: (cause?: unknown) => OAuthError,
): Promise<SealedGrant | undefined> {
  if (token?.startsWith(PREFIX) !== true) return undefined;
  const value = token.slice(PREFIX.length);
  const kid = kidOf(value);
  const key = await keyset.find(PURPOSE, kid);
  if (key === undefined) throw unreadable();
  const { v, clientId: owner, refreshToken, connection } = parseSealed(key, value.slice(kid.length + 1), unreadable);
  if (v !== 1) throw unreadable();
  //= bar#RF-7
  if (isSameText(owner, clientId)) return { refreshToken, connection, kid };
  throw new OAuthError("invalid_grant", "This refresh token was issued to another client");
}

function parseSealed(key: Buffer, sealed: string, unreadable: (cause?: unknown) => OAuthError): Sealed {
  try {
    return JSON.parse(open(key, sealed, [PURPOSE]).toString("utf8")) as Sealed;
  } catch (cause) {
    throw unreadable(cause);
  }
}
