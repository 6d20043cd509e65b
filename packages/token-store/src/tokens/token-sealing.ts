/**
 * Seals the fields of a token row and opens them, each bound to its place: environment, table,
 * keys, field, issuer, version and mark, and with several vendors the sign-in. A value moved to any other place does not open (bar TS-3).
 */
import { defined, type EpochSeconds, Secret } from "@oauth-broker/oauth-core";
import type { DataKeys } from "../keys/data-keys.ts";
import { envelopesUnder } from "../crypto/envelope.ts";
import type { Attributes, RowKey } from "../storage/token-rows.ts";
import {
  ROW_FORMAT,
  type SealedField,
  type SealedHalf,
  sealedName,
  type SealedTexts,
  textsOf,
  tokensOf,
} from "./token-attributes.ts";
import type { SignIn, TokenSet } from "./tokens.ts";

/** The place of a row's sealed half. */
export interface Place {
  readonly environment: string;
  readonly table: string;
  readonly key: RowKey;
  readonly issuer: string;
  /** As the row names it. */
  readonly signIn: SignIn | undefined;
}

/** The refresh token before the current one, for a vendor that accepts it a little longer. */
export interface Previous {
  readonly refreshToken: Secret;
  readonly until: EpochSeconds;
}

/** What the fields of a sealed half hold. */
export interface Content {
  readonly tokens: TokenSet;
  readonly previous?: Previous;
}

/**
 * @returns the sealed half as attributes, bookkeeping included
 * @throws TokenStoreError too_large, input_invalid; OAuthError temporarily_unavailable when the key
 *   service does not respond
 */
export async function sealHalf(
  { tokens, previous }: Content,
  row: Pick<SealedHalf, "version" | "mark">,
  place: Place,
  { dataKeys }: { readonly dataKeys: DataKeys },
): Promise<Attributes> {
  const kept = previous && JSON.stringify({ refreshToken: previous.refreshToken.reveal(), until: previous.until });
  const texts = Object.entries({ ...textsOf(tokens), ...defined({ previous: kept }) }) as [SealedField, string][];
  const { dataKey, wrapped } = await dataKeys.toSeal(texts.length);
  // At once, before any other await: the cache owns the key.
  const { seal } = envelopesUnder(dataKey);
  const sealed = texts.map(([field, text]) => [sealedName(field), seal(text, contextOf(place, field, row))]);
  return {
    ...(Object.fromEntries(sealed) as Record<string, string>),
    data_key: wrapped,
    format: ROW_FORMAT,
    mode: row.mark,
    version: row.version,
  };
}

/**
 * @throws TokenStoreError unreadable; OAuthError temporarily_unavailable when the key service does
 *   not respond
 */
export async function openHalf(
  half: SealedHalf,
  place: Place,
  { dataKeys }: { readonly dataKeys: DataKeys },
): Promise<Content> {
  const { open } = envelopesUnder(await dataKeys.toOpen(half.wrapped, half.fields.size));
  const texts: SealedTexts = Object.fromEntries(
    Array.from(half.fields, ([field, value]) => [field, open(value, contextOf(place, field, half)).toString("utf8")]),
  );
  const [tokens, kept] = [tokensOf(texts), texts.previous];
  if (kept === undefined) return { tokens };
  const { refreshToken, until } = JSON.parse(kept) as { readonly refreshToken: string; readonly until: EpochSeconds };
  return { tokens, previous: { refreshToken: new Secret(refreshToken), until } };
}

//= bar#TS-3
function contextOf(
  { environment, table, key, issuer, signIn }: Place,
  field: SealedField,
  { version, mark }: Pick<SealedHalf, "version" | "mark">,
): string[] {
  const kind = ["token row", String(ROW_FORMAT)];
  const at = [...kind, environment, table, key.pk, key.sk, field, issuer, String(version), mark];
  return signIn === undefined ? at : [...at, "sign-in", signIn.vendor, signIn.issuer];
}
