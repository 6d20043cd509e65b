/**
 * What makes a token row a user's link: under which sign-in it was made, how often it was made or
 * ended, and what is known of the linked account. Servers with one vendor write none of these.
 */
import { defined, Secret } from "@oauth-broker/oauth-core";
import { objectFromJson } from "../storage/record-rules.ts";
import type { Attributes } from "../storage/token-rows.ts";
import type { LinkDetails, SignIn, TokenKey, TokenSet } from "./tokens.ts";

/** Also in the authenticated data of every sealed field of the row. */
export const SIGN_IN_ATTRIBUTES = ["sign_in_vendor", "sign_in_issuer"] as const;

/** Only if nothing is encrypted; elsewhere the details are sealed with the tokens. */
export const PLAIN_DETAILS = "link_details";

/** @returns undefined for a row of a server with one vendor */
export function signInOf({ sign_in_vendor: vendor, sign_in_issuer: issuer }: Attributes): SignIn | undefined {
  if (vendor === undefined && issuer === undefined) return undefined;
  // A row that has only one of them was written by another program, and matches no sign-in.
  return { vendor: String(vendor ?? ""), issuer: String(issuer ?? "") };
}

export function signInAttributes(signIn: SignIn | undefined): Attributes {
  return signIn === undefined ? {} : { sign_in_vendor: signIn.vendor, sign_in_issuer: signIn.issuer };
}

/**
 * Whether the row's tokens were linked under another sign-in than the key's: its user is then
 * another person with the same identity elsewhere. A row that names no sign-in was made at its own
 * vendor.
 */
export function isForeign(attributes: Attributes, key: TokenKey): boolean {
  if (!holdsTokens(attributes)) return false;
  const own = { vendor: key.vendor, issuer: key.issuer };
  const [made, asked] = [signInOf(attributes) ?? own, key.signIn ?? own];
  return made.vendor !== asked.vendor || made.issuer !== asked.issuer;
}

/** False for what a link leaves behind when it has ended. */
export function holdsTokens(attributes: Attributes): boolean {
  return Object.keys(attributes).some(
    (name) => name === "access_token" || name === "data_key" || name.startsWith("sealed_"),
  );
}

/** What the copy has no attribute for. */
type Uncopied = Pick<TokenSet, "refreshExpiresAt" | "clientId">;

/** @param uncopied of the tokens, if nothing is encrypted */
export function detailsText(
  { account, label, linkedAt, notGranted, lacked }: LinkDetails,
  { refreshExpiresAt, clientId }: Uncopied = {},
): string {
  return JSON.stringify({ account, label: label?.reveal(), linkedAt, notGranted, lacked, refreshExpiresAt, clientId });
}

export function uncopiedIn(details: string): Uncopied {
  const { refreshExpiresAt, clientId } = objectFromJson(details, PLAIN_DETAILS) as Uncopied;
  return defined({ refreshExpiresAt, clientId });
}

export function detailsOf(text: string): LinkDetails {
  const parsed = objectFromJson(text, PLAIN_DETAILS) as unknown as Omit<LinkDetails, "label"> & { label?: string };
  const { account, label, linkedAt, notGranted, lacked } = parsed;
  return { linkedAt, notGranted, lacked, ...defined({ account, label: Secret.of(label) }) };
}
