/**
 * The layout of a token row: the names of its attributes, and how they become values and back. No
 * decisions here; modes/ decides which half of a row is valid, row-records.ts reads and writes.
 *
 * A row has two halves. The plaintext copy is what builds before encryption know. The sealed half
 * is ours.
 */
import { defined, type EpochSeconds, Secret } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../errors.ts";
import type { Attribute, Attributes, RowKey } from "../storage/token-rows.ts";
import { detailsOf, detailsText, PLAIN_DETAILS, uncopiedIn } from "./link-attributes.ts";
import type { TokenKey, TokenSet, TokenStatus } from "./tokens.ts";

/**
 * `bridge` keeps a plaintext copy that builds without encryption can read; `encrypted` writes
 * ciphertext alone.
 */
export type ModeName = "bridge" | "encrypted";

/** The format of the row, not of an envelope: which attributes there are and what each sealed one holds. */
export const ROW_FORMAT = 1;

/** The attributes older readers know. Their names never change. */
export const COPY_ATTRIBUTES = [
  "access_token",
  "refresh_token",
  "id_token",
  "token_type",
  "scope",
  "expires_at",
  "updated_at",
] as const;

export const SEALED_FIELDS = ["access_token", "refresh_token", "id_token", "details", "previous"] as const;
export type SealedField = (typeof SEALED_FIELDS)[number];
export type SealedTexts = Readonly<Partial<Record<SealedField, string>>>;

export const LEASE_ATTRIBUTES = ["lease_owner", "lease_until", "lease_attempt"] as const;

export const sealedName = (field: SealedField): string => `sealed_${field}`;
export const SEALED_NAMES = SEALED_FIELDS.map(sealedName);

const USER = "USER#";
const VENDOR = "VENDOR#";
/** DynamoDB's limits for pk and sk, less the prefixes. */
const LONGEST_USER_BYTES = 2000;
const LONGEST_VENDOR_BYTES = 1000;
/** The limit for one token. Three tokens, both halves and `previous` stay below the 400 KB of an item. */
//= bar#TS-16
export const LONGEST_TOKEN_BYTES = 32 * 1024;

/**
 * @throws TokenStoreError input_invalid for a name that is empty, too long or not well-formed text
 */
export function rowKeyOf({ user, vendor }: Pick<TokenKey, "user" | "vendor">): RowKey {
  requireName(user, "user", LONGEST_USER_BYTES);
  requireName(vendor, "vendor", LONGEST_VENDOR_BYTES);
  return { pk: `${USER}${user}`, sk: `${VENDOR}${vendor}` };
}

/**
 * @returns the user and vendor of a token row, undefined for a row of another kind in the same
 *   table
 */
export function namesOf({ pk, sk }: RowKey): { readonly user: string; readonly vendor: string } | undefined {
  if (!pk.startsWith(USER) || !sk.startsWith(VENDOR)) return undefined;
  return { user: pk.slice(USER.length), vendor: sk.slice(VENDOR.length) };
}

/** The sealed half as stored in the row. */
export interface SealedHalf {
  readonly version: number;
  readonly mark: ModeName;
  readonly wrapped: string;
  readonly fields: ReadonlyMap<SealedField, string>;
}

/**
 * Any attribute of the sealed half makes it a sealed row: one that lost a part must fail, and not
 * pass as a plaintext row.
 */
//= bar#TS-7
export function isSealed(attributes: Attributes): boolean {
  return Object.hasOwn(attributes, "data_key") || SEALED_NAMES.some((name) => Object.hasOwn(attributes, name));
}

/**
 * @returns undefined when the row has no sealed half.
 * @throws TokenStoreError format_unknown, unreadable
 */
export function sealedHalfOf(attributes: Attributes): SealedHalf | undefined {
  if (!isSealed(attributes)) return undefined;
  const fields = new Map<SealedField, string>();
  for (const field of SEALED_FIELDS) {
    const value = attributes[sealedName(field)];
    if (typeof value === "string") fields.set(field, value);
  }
  const { data_key: wrapped, format, version, mode } = attributes;
  if (typeof format === "number" && format > ROW_FORMAT) throw new TokenStoreError("format_unknown");
  const isMode = mode === "bridge" || mode === "encrypted";
  if (typeof wrapped !== "string" || typeof version !== "number" || format !== ROW_FORMAT || !isMode) {
    throw new TokenStoreError("unreadable", { detail: "a part of the sealed row is missing" });
  }
  return { version, mark: mode, wrapped, fields };
}

/**
 * @returns undefined without a copy: without an access token the rest is useless to an older
 *   reader
 */
export function copyOf(attributes: Attributes): TokenSet | undefined {
  const accessToken = text(attributes["access_token"]);
  if (accessToken === undefined) return undefined;
  const scope = text(attributes["scope"]);
  const expiresAt = seconds(attributes["expires_at"]);
  const details = text(attributes[PLAIN_DETAILS]);
  const refreshToken = Secret.of(text(attributes["refresh_token"]));
  const idToken = Secret.of(text(attributes["id_token"]));
  return {
    accessToken: new Secret(accessToken),
    tokenType: text(attributes["token_type"]) ?? "Bearer",
    ...defined({ refreshToken, idToken, scope, expiresAt }),
    ...(details === undefined ? {} : { link: detailsOf(details), ...uncopiedIn(details) }),
  };
}

/** The copy as attributes; members that the tokens do not have are left out. */
export function copyAttributes(tokens: TokenSet, writtenAt: EpochSeconds): Attributes {
  return defined({
    access_token: tokens.accessToken.reveal(),
    refresh_token: tokens.refreshToken?.reveal(),
    id_token: tokens.idToken?.reveal(),
    token_type: tokens.tokenType,
    // An empty attribute is read as absent, as by older readers.
    scope: tokens.scope === "" ? undefined : tokens.scope,
    expires_at: tokens.expiresAt,
    updated_at: writtenAt,
  });
}

/**
 * Whether an older reader would see the same tokens in both. What a copy cannot hold is not
 * compared.
 */
export function isSameCopy(a: TokenSet, b: TokenSet): boolean {
  const [left, right] = [copyAttributes(a, 0), copyAttributes(b, 0)];
  return COPY_ATTRIBUTES.every((name) => left[name] === right[name]);
}

/**
 * The texts to seal, by field. Also checks everything a copy holds.
 *
 * @throws TokenStoreError too_large, input_invalid
 */
export function textsOf(tokens: TokenSet): SealedTexts {
  const { tokenType, scope = "", expiresAt = 0, refreshExpiresAt = 0, vendorData, link } = tokens;
  const isWhole =
    [expiresAt, refreshExpiresAt].every(Number.isSafeInteger) &&
    tokenType !== "" &&
    tokenType.isWellFormed() &&
    scope.isWellFormed();
  if (!isWhole)
    throw new TokenStoreError("input_invalid", { detail: "a token type, scope or expiry that no row can hold" });
  const details = JSON.stringify({
    tokenType,
    scope: tokens.scope,
    expiresAt: tokens.expiresAt,
    refreshExpiresAt: tokens.refreshExpiresAt,
    clientId: tokens.clientId,
    vendorData: vendorData?.reveal(),
    link: link === undefined ? undefined : detailsText(link),
  });
  const texts = defined({
    access_token: tokens.accessToken.reveal(),
    refresh_token: tokens.refreshToken?.reveal(),
    id_token: tokens.idToken?.reveal(),
    details,
  });
  Object.entries(texts).forEach(([field, value]) => requireToken(value, field));
  return texts;
}

/**
 * The inverse of `textsOf`.
 *
 * @throws TokenStoreError unreadable when a field is missing or is not what we wrote
 */
export function tokensOf(texts: SealedTexts): TokenSet {
  const { access_token: accessToken, details } = texts;
  if (accessToken === undefined || details === undefined) {
    throw new TokenStoreError("unreadable", { detail: "a part of the sealed row is missing" });
  }
  const { tokenType, scope, expiresAt, refreshExpiresAt, clientId, vendorData, link } = JSON.parse(details) as Omit<
    TokenSet,
    "vendorData" | "link"
  > & { readonly vendorData?: string; readonly link?: string };
  return {
    accessToken: new Secret(accessToken),
    tokenType,
    ...defined({ scope, expiresAt, refreshExpiresAt, clientId, vendorData: Secret.of(vendorData) }),
    ...defined({ refreshToken: Secret.of(texts.refresh_token), idToken: Secret.of(texts.id_token) }),
    ...(link === undefined ? {} : { link: detailsOf(link) }),
  };
}

/** Any status but those we write is refused: an unknown status is a newer release's. */
export function statusOf(attributes: Attributes): TokenStatus {
  const { status } = attributes;
  if (status === undefined || status === "active") return "active";
  return status === "revoked" ? "revoked" : "reauthorize";
}

/** Version 0 means that no build has counted yet. */
export function versionOf({ version }: Attributes): number {
  return typeof version === "number" ? version : 0;
}

function requireName(name: string, what: string, longest: number): void {
  const fits = name !== "" && name.isWellFormed() && Buffer.byteLength(name) <= longest;
  if (!fits) throw new TokenStoreError("input_invalid", { detail: `a ${what} of 1 to ${longest} bytes is needed` });
}

function requireToken(value: string, field: string): void {
  if (value === "" || !value.isWellFormed())
    throw new TokenStoreError("input_invalid", { detail: `an empty ${field}` });
  if (Buffer.byteLength(value) > LONGEST_TOKEN_BYTES) {
    throw new TokenStoreError("too_large", { detail: `${field} of more than ${LONGEST_TOKEN_BYTES} bytes` });
  }
}

/** An older writer may have stored an empty string when it had nothing. */
function text(value: Attribute | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function seconds(value: Attribute | undefined): EpochSeconds | undefined {
  const number = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.floor(number) : undefined;
}
