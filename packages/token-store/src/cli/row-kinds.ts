/**
 * What a row of the table is, judged by its attributes alone: nothing is opened and no key is needed. inspect.ts looks
 * inside. Every command of the line counts by these kinds.
 */
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import { isExpired, markOf } from "../tokens/row-conditions.ts";
import type { Attributes, Row } from "../storage/token-rows.ts";
import { COPY_ATTRIBUTES, copyOf, namesOf, sealedHalfOf } from "../tokens/token-attributes.ts";

/**
 * - `plaintext_only`: an older build wrote it and nothing has sealed it since
 * - `both`: sealed, with a plaintext copy or what is left of one
 * - `ciphertext_only`: sealed, and nothing else
 * - `broken`: the sealed half lost a part, or a newer release wrote it
 * - `empty`: a token row without an access token in either half
 * - `expired`: past its `ttl`, whatever it holds; to every reader of ours it is gone
 * - `other`: not a token row
 */
export const ROW_KINDS = ["plaintext_only", "both", "ciphertext_only", "broken", "empty", "expired", "other"] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** The attributes of a copy that are secrets. */
const SECRET_ATTRIBUTES = ["access_token", "refresh_token", "id_token"] as const;

export interface KnownRow {
  readonly kind: RowKind;
  /** Of a token row, expired or not. */
  readonly names?: { readonly user: string; readonly vendor: string };
  /** Whether somebody who reads the table reads a token in it. */
  readonly showsPlaintext: boolean;
  /** A row that builds in mode `encrypted` wrote, or that was stripped: it gets no copy any more. */
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
