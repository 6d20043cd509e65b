/**
 * The token store as the bench opens it, and the users whose tokens it holds: mode `encrypted`,
 * keys from KMS.
 */
import { Secret, systemClock as now, systemTimer } from "@oauth-broker/oauth-core";
import { createTokenStore, type TokenKey, type TokenStore } from "@oauth-broker/token-store";
import { kmsKeyWrapper } from "@oauth-broker/token-store/kms";
import { dynamodbTokenRows } from "@oauth-broker/token-store/dynamodb";
import type { Engines } from "../../engines.ts";

/** Users whose tokens are read, in turn. */
export const READERS = 250;
/** As long as a JWT and an opaque token commonly are. */
export const TOKEN_LENGTHS = { access: 1000, refresh: 200 };
/** Per call of the stores: an engine that has just started is slow, and that is not measured. */
export const DEADLINE_MS = 30_000;

export const TOKENS = {
  accessToken: new Secret("a".repeat(TOKEN_LENGTHS.access)),
  refreshToken: new Secret("r".repeat(TOKEN_LENGTHS.refresh)),
  tokenType: "Bearer",
  scope: "read:user repo offline_access",
  expiresAt: 2 ** 32,
};

export const VENDOR = "github";

export function openStore(engines: Engines): TokenStore {
  const { region, kmsEndpoint, keyArn } = engines;
  const rows = dynamodbTokenRows({ ...engines, deadlineMs: DEADLINE_MS });
  const keys = kmsKeyWrapper({ keyId: keyArn, endpoint: kmsEndpoint });
  return createTokenStore({ rows, timer: systemTimer, keys, mode: "encrypted", environment: region, now });
}

export const readerName = (number: number): string => `reader-${number % READERS}`;

/** The key of one user. */
export const keyOf = (user: string): TokenKey => ({ user, vendor: VENDOR, issuer: "github.com" });

/** @throws Error when the tokens did not open, or are others */
export async function readUser(store: TokenStore, key: TokenKey): Promise<void> {
  const stored = await store.get(key);
  if (stored?.tokens.accessToken.reveal() !== TOKENS.accessToken.reveal()) throw new Error("other tokens came back");
}

/** @throws Error when a row contains a token in plaintext, or nothing sealed */
export function requireSealed(values: Readonly<Record<string, unknown>>): void {
  const text = JSON.stringify(values);
  const isClear = [TOKENS.accessToken, TOKENS.refreshToken].some((token) => text.includes(token.reveal()));
  if (isClear || values["sealed_access_token"] === undefined) throw new Error("the row is not sealed");
}
