/**
 * A store that refreshes at a vendor, in the process of a test and, started by
 * refresh/processes.test.ts, in others: those answer each order with what its callers got.
 */
import { OAuthError, Secret, systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { localKeyWrapper } from "../../keys/local.ts";
import type { Refresh } from "../../refresh/context.ts";
import type { DynamoDbOptions } from "../../storage/dynamodb/table.ts";
import { dynamodbTokenRows } from "../../storage/dynamodb/token-rows.ts";
import { createTokenStore, type TokenStore } from "../../token-store.ts";
import type { TokenKey, TokenSet } from "../../tokens/tokens.ts";

/** Longer than any process of a test is slow. */
export const LEASE_SECONDS = 240;

export interface RefreshSettings extends DynamoDbOptions {
  readonly keyFile: string;
  readonly vendor: { readonly tokenEndpoint: string; readonly clientId: string; readonly clientSecret: string };
}

export interface RefreshOrder {
  readonly users: readonly string[];
  readonly callers: number;
}

/** By user: the access tokens and errors that its callers got, and how many of them. */
export type RefreshAnswers = Readonly<Record<string, Readonly<Record<string, number>>>>;

export const keyOf = (user: string): TokenKey => ({ user, vendor: "example", issuer: "https://issuer.example" });

/** @param aheadSeconds how far its clock is ahead */
export function refreshingStore(settings: RefreshSettings, aheadSeconds = 0): { store: TokenStore; refresh: Refresh } {
  const { keyFile, vendor, ...options } = settings;
  const now = (): number => systemClock() + aheadSeconds;
  const times = {
    leaseSeconds: LEASE_SECONDS,
    vendorTimeoutMs: 60_000,
    storeBudgetMs: 60_000,
    waitMs: 180_000,
    commitMs: 60_000,
  };
  const store = createTokenStore({
    rows: dynamodbTokenRows(options),
    keys: localKeyWrapper({ path: keyFile }),
    mode: "encrypted",
    environment: "test",
    now,
    timer: systemTimer,
    refresh: { times },
  });
  const refresh: Refresh = async ({ refreshToken }, { signal }) => {
    const body = new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: refreshToken.reveal(),
      client_id: vendor.clientId,
      client_secret: vendor.clientSecret,
    });
    const response = await fetch(vendor.tokenEndpoint, { method: "POST", body, signal });
    if (response.status !== 200) throw new OAuthError("invalid_grant", "The vendor refused the grant");
    const answer = (await response.json()) as { access_token: string; refresh_token: string; expires_in: number };
    return tokensOf(answer.access_token, answer.refresh_token, now() + answer.expires_in);
  };
  return { store, refresh };
}

export function tokensOf(accessToken: string, refreshToken: string, expiresAt: number): TokenSet {
  return {
    accessToken: new Secret(accessToken),
    refreshToken: new Secret(refreshToken),
    tokenType: "Bearer",
    expiresAt,
  };
}

if (import.meta.main) {
  const { store, refresh } = refreshingStore(JSON.parse(process.argv[2] ?? "") as RefreshSettings);
  const answersOf = async (user: string, callers: number): Promise<[string, Record<string, number>]> => {
    const call = (): Promise<string> =>
      store
        .withRefreshLease(keyOf(user), refresh)
        .then((stored) => String(stored?.tokens.accessToken.reveal()), String);
    const tally: Record<string, number> = {};
    for (const answer of await Promise.all(Array.from({ length: callers }, call)))
      tally[answer] = (tally[answer] ?? 0) + 1;
    return [user, tally];
  };
  process.on("message", ({ users, callers }: RefreshOrder) => {
    void Promise.all(users.map((user) => answersOf(user, callers))).then((all) =>
      process.send?.(Object.fromEntries(all)),
    );
  });
  process.send?.({ ready: 1 });
}
