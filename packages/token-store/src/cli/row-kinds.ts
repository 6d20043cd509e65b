/**
 * The kind of a table row, by its attributes alone: no value is opened and no key is needed. Every
 * command counts by these kinds. `inspect` opens rows.
 */
import { defined, type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../errors.ts";
import type { DataKeys } from "../keys/data-keys.ts";
import type { Attributes, Row, TokenRows } from "../storage/token-rows.ts";
import type { TokenKey } from "../tokens/tokens.ts";
import { isExpired, markOf } from "../tokens/row-conditions.ts";
import { COPY_ATTRIBUTES, copyOf, isSameCopy, namesOf, sealedHalfOf } from "../tokens/token-attributes.ts";
import { signInOf } from "../tokens/link-attributes.ts";
import { openHalf } from "../tokens/token-sealing.ts";

/**
 * - `plaintext_only`: an older build wrote it and it has not been sealed since
 * - `both`: sealed, with a plaintext copy or parts of one
 * - `ciphertext_only`: sealed, and nothing else
 * - `broken`: the sealed half lost a part, or a newer release wrote it
 * - `empty`: a token row without an access token in either half, as an ended link leaves for an
 *   hour
 * - `expired`: past its `ttl`, with any content; our readers treat it as absent
 * - `other`: not a token row
 */
export const ROW_KINDS = ["plaintext_only", "both", "ciphertext_only", "broken", "empty", "expired", "other"] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** The attributes of a copy that are secrets. */
const SECRET_ATTRIBUTES = ["access_token", "refresh_token", "id_token"] as const;

export interface KnownRow {
  readonly kind: RowKind;
  /** The names in a token row, expired or not. */
  readonly names?: { readonly user: string; readonly vendor: string };
  /** Whether a reader of the table can read a token in it. */
  readonly showsPlaintext: boolean;
  /** A row that was written in mode `encrypted`, or stripped: it gets no copy any more. */
  readonly markedEncrypted: boolean;
}

export function knownRow({ key, attributes }: Row, now: EpochSeconds): KnownRow {
  const names = namesOf(key);
  if (names === undefined || names.user === "" || names.vendor === "") {
    return { kind: "other", showsPlaintext: false, markedEncrypted: false };
  }
  return {
    kind: isExpired(attributes, now) ? "expired" : kindOf(attributes),
    names,
    showsPlaintext: SECRET_ATTRIBUTES.some((name) => Object.hasOwn(attributes, name) && attributes[name] !== ""),
    markedEncrypted: markOf(attributes) === "encrypted",
  };
}

function kindOf(attributes: Attributes): RowKind {
  const sealed = isSealed(attributes);
  if (sealed === "broken") return "broken";
  if (sealed) return COPY_ATTRIBUTES.some((name) => Object.hasOwn(attributes, name)) ? "both" : "ciphertext_only";
  return copyOf(attributes) === undefined ? "empty" : "plaintext_only";
}

function isSealed(attributes: Attributes): boolean | "broken" {
  try {
    return sealedHalfOf(attributes) !== undefined;
  } catch {
    return "broken";
  }
}

/** The key of a row's own tokens, linked under any sign-in. */
export function keyOf(names: NonNullable<KnownRow["names"]>, issuer: string, { attributes }: Row): TokenKey {
  return { ...names, issuer, ...defined({ signIn: signInOf(attributes) }) };
}

/** What opens rows. */
export interface InspectDeps {
  readonly dataKeys: DataKeys;
  readonly environment: string;
  readonly rows: Pick<TokenRows, "table">;
}

/**
 * - `opens`: and its copy, if any, has the same tokens
 * - `differs`: and its copy has other tokens
 * - `unreadable`: altered, moved, or sealed for another issuer, table, environment or key
 */
export type Inspection = "opens" | "differs" | "unreadable";

/**
 * Opens the sealed half of a row as it was scanned, and compares its copy. Writes nothing and does
 * not read the row again: TokenRecords makes the required changes, on the row as it then is.
 *
 * @throws OAuthError temporarily_unavailable when the key service does not respond
 */
export async function inspect({ key, attributes }: Row, issuer: string, deps: InspectDeps): Promise<Inspection> {
  const { dataKeys, environment, rows } = deps;
  try {
    const half = sealedHalfOf(attributes);
    if (half === undefined) return "unreadable";
    const place = { environment, table: rows.table, key, issuer, signIn: signInOf(attributes) };
    const { tokens } = await openHalf(half, place, { dataKeys });
    const copy = copyOf(attributes);
    return copy === undefined || isSameCopy(tokens, copy) ? "opens" : "differs";
  } catch (error) {
    if (isUnreadable(error)) return "unreadable";
    throw error;
  }
}

/** A permanent property of this row, unlike an outage. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof OAuthError) return error.extras.reason === "token_unreadable";
  return error instanceof TokenStoreError && (error.code === "unreadable" || error.code === "format_unknown");
}
