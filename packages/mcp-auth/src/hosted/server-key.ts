/**
 * The key that PKCE #2, nonces and the genuineness of our tokens are derived from: random, made once for a table or folder
 * and shared by every process on it, sealed under the store's key where there is one. Kept by server-key-record.ts.
 */

/** What the key is used for. A value made under one purpose means nothing under another. */
export type ServerKeyPurpose =
  | "vendor-pkce"
  | "vendor-nonce"
  | "token-tag"
  | "record-mac"
  | "user-sessions"
  | "client-slots"
  | "state"
  | "csrf"
  | "parked-tokens";

export interface ServerKey {
  /** 32 bytes, the same in every process. @throws OAuthError temporarily_unavailable when it cannot be read now */
  derive(purpose: ServerKeyPurpose): Promise<Buffer>;
}
