/**
 * The token store as the bench opens it, and the users whose tokens it holds: mode `encrypted`,
 * keys from KMS.
 */
import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import { createTokenStore, type TokenKey, type TokenStore } from "@oauth-broker/token-store";
import { kmsKeyWrapper } from "@oauth-broker/token-store/kms";
import { dynamodbTokenRows } from "@oauth-broker/token-store/dynamodb";
import type { Key } from "./bare.ts";
import type { Engines } from "../../engines.ts";
import { DEADLINE_MS, LANES, TOKEN_LENGTHS } from "./subjects.ts";

export const TOKENS = {
  accessToken: new Secret("a".repeat(TOKEN_LENGTHS.access)),
  refreshToken: new Secret("r".repeat(TOKEN_LENGTHS.refresh)),
  tokenType: "Bearer",
  scope: "read:user repo offline_access",
  expiresAt: 2 ** 32,
};

const VENDOR = "github";

export function openStore(engines: Engines): TokenStore {
  const { region, kmsEndpoint, keyArn } = engines;
  const rows = dynamodbTokenRows({ ...engines, deadlineMs: DEADLINE_MS });
  const keys = kmsKeyWrapper({ keyId: keyArn, endpoint: kmsEndpoint });
  const now = (): number => Math.floor(Date.now() / 1000);
  return createTokenStore({ rows, timer: systemTimer, keys, mode: "encrypted", environment: region, now });
}

/** The key of one user. */
export function keyOf(user: string): TokenKey {
  return { user, vendor: VENDOR, issuer: "github.com" };
}

/** The same as a row's key (docs/storage-schema.md). */
export function rowKeyOf(user: string): Key {
  return { pk: `USER#${user}`, sk: `VENDOR#${VENDOR}` };
}

export async function writeUsers(store: TokenStore, users: readonly string[]): Promise<void> {
  const left = [...users];
  const lane = async (): Promise<void> => {
    for (let user = left.pop(); user !== undefined; user = left.pop()) await store.put(keyOf(user), TOKENS);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

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

/**
 * Repeats the elements in turn.
 * @param all at least one
 */
export function inTurn<Element>(all: readonly Element[]): () => Element {
  let at = -1;
  return () => {
    at = (at + 1) % all.length;
    return all[at]!;
  };
}
