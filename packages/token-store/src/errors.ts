/**
 * The errors inside the token store, as a closed set of codes. Internal: callers translate an error
 * once into an OAuthError at their boundary (a key or row that cannot be read is their 503).
 * Messages are constant sentences and `detail` is written by our code, so neither can carry a key,
 * a token or a sealed value. An engine that does not respond is an OAuthError at once, as the
 * RecordStore port requires.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";

const SENTENCE = {
  unreadable: "The sealed value was altered, cut, or made under another key or for another place",
  format_unknown: "The data was written in a format this release does not know",
  input_invalid: "The value cannot be sealed or opened",
  too_large: "The value is larger than an envelope may be",
  key_invalid: "The key does not have the right shape",
  key_file_invalid: "The key file is not one of ours",
  key_file_unavailable: "The key file is missing (restore it), or cannot be read or made",
  store_foreign: "The store file belongs to something else",
  key_id_invalid: "The configured key id cannot be used",
  key_service_refused: "The key service refuses the configured key",
  mode_conflict: "The mode in the code and TOKEN_ENCRYPTION_MODE differ: set one of them, or both to the same",
  key_missing: "Mode encrypted needs a key: set TOKEN_ENCRYPTION_KMS_KEY_ID to the ARN of a KMS key",
  settings_invalid: "The settings of the token store are not usable",
} as const;

/** What went wrong, as one word of a closed set. */
export type TokenStoreErrorCode = keyof typeof SENTENCE;

/**
 * What the token store throws beside OAuthError. The message is a constant sentence, so it never
 * holds a key, a token or a sealed value.
 */
export class TokenStoreError extends Error {
  override readonly name = "TokenStoreError";
  readonly code: TokenStoreErrorCode;
  /** For the operator: what was expected, or which file. Never a value. */
  readonly detail: string | undefined;

  //= bar#TS-17
  constructor(code: TokenStoreErrorCode, options: { readonly detail?: string; readonly cause?: unknown } = {}) {
    const { detail, cause } = options;
    super(`${SENTENCE[code]}${detail === undefined ? "" : `: ${detail}`}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.detail = detail;
  }
}

/**
 * The one error a RecordStore or TokenRows throws for its engine.
 *
 * @param cause the engine's error; kept for the log, never for the wire
 * @param detail for the operator, if the engine's message does not say what to do
 */
export function storeUnavailable(
  cause: unknown,
  detail = cause instanceof Error ? cause.message : undefined,
): OAuthError {
  return new OAuthError("temporarily_unavailable", "The record store does not respond", {
    reason: "store_unavailable",
    cause,
    ...defined({ detail }),
  });
}

/**
 * One row or record was damaged, or another program wrote it. No text of it is in the error.
 *
 * @param what it is, for the operator
 */
export function unknownFormat(what: string): OAuthError {
  return storeUnavailable(new TokenStoreError("format_unknown", { detail: what }));
}
