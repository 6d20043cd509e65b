/**
 * Data keys between the key service and the rows: one key seals many rows for a few minutes, an opened key is kept as long.
 * Bounded by age, uses and entries (bar TS-13). A call to the key service costs milliseconds and money; a row costs none.
 */
import type { Clock, KeyContext, KeyWrapper } from "@oauth-broker/oauth-core";

export interface DataKey {
  /** 32 bytes. Belongs to the cache: never keep it beyond the operation, never change it. */
  readonly dataKey: Buffer;
  /** As the row keeps it. */
  readonly wrapped: string;
}

export interface DataKeys {
  /** @param uses how many fields will be sealed with it. @throws OAuthError temporarily_unavailable, reason `kms_unavailable` */
  toSeal(uses: number): Promise<DataKey>;
  /** @throws OAuthError temporarily_unavailable as above; TokenStoreError unreadable when the key service refuses the wrapped key */
  toOpen(wrapped: string, uses: number): Promise<Buffer>;
  /** Whether new data keys are made under another root than this one, so that its row is worth sealing again. */
  isStale(wrapped: string): boolean;
  /** Forgets every key, overwriting it first (best effort). */
  close(): void;
}

export interface DataKeysOptions {
  readonly keys: KeyWrapper;
  readonly context: KeyContext;
  readonly now: Clock;
  readonly limits?: Partial<DataKeyLimits>;
}

export interface DataKeyLimits {
  /** Default 300, the most the contract permits. */
  readonly maxAgeSeconds: number;
  /** Default 2^20, of sealing and opening together. */
  readonly maxUses: number;
  /** Opened keys kept; default 1,000. */
  readonly maxEntries: number;
  /** Calls to the key service at once; default 20. */
  readonly maxConcurrency: number;
}
