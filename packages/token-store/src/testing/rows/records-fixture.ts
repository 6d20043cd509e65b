/**
 * Token records over rows in memory, with keys by name and a key service that can be switched off.
 * For the tests of both modes.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { expect } from "vitest";
import type { Mode } from "../../tokens/mode.ts";
import { createTokenRecords } from "../../tokens/row-records.ts";
import { memoryTokenRows } from "../../storage/memory/token-rows.ts";
import type { Attributes, TokenRows } from "../../storage/token-rows.ts";
import { rowKeyOf } from "../../tokens/token-attributes.ts";
import type { TokenRecords } from "../../tokens/token-records.ts";
import type { TokenKey, TokenSet } from "../../tokens/tokens.ts";
import { fakeDataKeys } from "./fake-data-keys.ts";

export const NOW = 1_700_000_000;
export const KEY: TokenKey = { user: "u1", vendor: "example", issuer: "https://issuer.example" };
const ROW = rowKeyOf(KEY);
export const TOKENS: TokenSet = {
  accessToken: new Secret("at-1"),
  refreshToken: new Secret("rt-1"),
  idToken: new Secret("id-1"),
  tokenType: "Bearer",
  scope: "a b",
  expiresAt: NOW + 3600,
  vendorData: new Secret('{"instance_url":"https://x.example"}'),
};
export const OLDER: Attributes = {
  access_token: "old-at",
  refresh_token: "old-rt",
  token_type: "bearer",
  scope: "a",
  expires_at: NOW + 100,
  updated_at: NOW - 50,
};
export const UNREADABLE: unknown = expect.objectContaining({
  name: "OAuthError",
  code: "temporarily_unavailable",
  extras: expect.objectContaining({ reason: "token_unreadable" }),
});

export interface Fixture {
  readonly rows: TokenRows;
  readonly keys: ReturnType<typeof fakeDataKeys>;
  readonly events: string[];
  readonly clock: ReturnType<typeof fixedClock>;
  records(
    mode: Mode,
    options?: { readonly environment?: string; readonly keyless?: boolean; rows?: TokenRows },
  ): TokenRecords;
  attributes(): Promise<Attributes>;
  older(set: Attributes, remove?: readonly string[]): Promise<void>;
}

export function fixture(): Fixture {
  const rows = memoryTokenRows({ table: "tokens" });
  const keys = fakeDataKeys();
  const clock = fixedClock(NOW);
  const events: string[] = [];
  return {
    rows,
    keys,
    events,
    clock,
    records: (mode, { environment = "test", keyless = false, rows: other = rows } = {}) =>
      createTokenRecords({
        rows: other,
        dataKeys: keyless ? undefined : keys,
        mode,
        environment,
        now: clock,
        onEvent: ({ name }) => events.push(name),
      }),
    attributes: async () => (await rows.get(ROW))?.attributes ?? {},
    older: async (set, remove = []) => void (await rows.change(ROW, { set, remove }, {})),
  };
}

/** With the tokens put, in that mode; `store` has them. */
export async function withTokens(mode: Mode): Promise<Fixture & { readonly store: TokenRecords }> {
  const made = fixture();
  const store = made.records(mode);
  await store.replace(KEY, TOKENS);
  return { ...made, store };
}

export const plain = (tokens: TokenSet | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(tokens ?? {}).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
  );
