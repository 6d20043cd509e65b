/**
 * Which issuer counts as a vendor's: the `iss` of its redirect to the callback, an issuer with
 * several spellings, and vendors whose issuer has one name per tenant (`issuerTemplate`).
 * id-token/checks.ts decides what an ID token has to name.
 */
import { OAuthError } from "../protocol/errors.ts";
import type { IssuerTemplate } from "../registry/dialect.ts";
import type { ResolvedVendor, Vendor } from "../registry/vendor.ts";

/** Whether the vendor issues ID tokens: it has an issuer, and its entry does not deny it. */
export function hasIdTokens({ issuer, issuesIdTokens }: Pick<ResolvedVendor, "issuer" | "issuesIdTokens">): boolean {
  return issuer !== undefined && issuesIdTokens !== false;
}

/** Whether it must return an ID token: `openid` is among the scopes too (OpenID Connect Core §3.1.2.1). */
export function isIdTokenDue(vendor: Parameters<typeof hasIdTokens>[0], scope: readonly string[]): boolean {
  return hasIdTokens(vendor) && scope.includes("openid");
}

/**
 * @param iss as sent, after form decoding; an empty value is wrong, only `undefined` is absent
 * @throws OAuthError invalid_request, reason `missing_issuer` or `issuer_mismatch`
 */
//= rfc9207#2.4
export function requireIssuer(
  vendor: Pick<ResolvedVendor, "issuer" | "issExpected" | "authorizationEndpoint"> & IssuerSpellings,
  iss: string | undefined,
): void {
  if (iss === undefined) {
    //= bar#CB-16
    if (!vendor.issExpected) return;
    throw new OAuthError("invalid_request", "The response does not identify its issuer", { reason: "missing_issuer" });
  }
  const { issuer, authorizationEndpoint } = vendor;
  const isTheirs =
    issuer === undefined ? isOfSameOrigin(iss, authorizationEndpoint) : isIssuer({ ...vendor, issuer }, iss);
  if (!isTheirs) {
    throw new OAuthError("invalid_request", "The response is from another issuer", { reason: "issuer_mismatch" });
  }
}

type IssuerSpellings = Partial<Pick<ResolvedVendor, "issuerSpelling" | "issuerTemplate">>;

/** Whether a text names the vendor's issuer, in one of its spellings. */
export function isIssuer(vendor: IssuerSpellings & { readonly issuer: string }, iss: string): boolean {
  return iss === vendor.issuer || isSpellingOf(vendor, iss);
}

/** The issuer without its scheme, or one of the tenants of a template. */
function isSpellingOf(
  { issuer, issuerSpelling, issuerTemplate }: IssuerSpellings & { readonly issuer: string },
  iss: string,
): boolean {
  if (issuerSpelling === "bare" && iss === withoutScheme(issuer)) return true;
  if (issuerTemplate === undefined) return false;
  const [before = "", after] = issuer.split(`{${issuerTemplate.placeholder}}`);
  if (after === undefined || !iss.startsWith(before) || !iss.endsWith(after)) return false;
  const tenant = iss.slice(before.length, iss.length - after.length);
  return isTenant(tenant, issuerTemplate) && isPinnedTenant(tenant, issuerTemplate);
}

/**
 * An entry with endpoints alone has no issuer to compare with. A vendor that sends `iss` anyway
 * must name the origin of the authorization endpoint (docs/decisions/0029).
 */
function isOfSameOrigin(iss: string, authorizationEndpoint: string): boolean {
  //= bar#CB-16
  return URL.parse(iss)?.origin === new URL(authorizationEndpoint).origin;
}

export function withoutScheme(issuer: string): string {
  return issuer.replace(/^https?:\/\//, "");
}

/**
 * Chooses between two spellings of one issuer, the one that is passed on and compared: the entry's,
 * which has a scheme.
 */
export function spelledIssuer(
  { issuer, issuerSpelling }: Pick<ResolvedVendor, "issuer" | "issuerSpelling">,
  claimed: string,
): string {
  return issuerSpelling === "bare" ? (issuer ?? claimed) : claimed;
}

export function isTenant(value: string, { pattern }: IssuerTemplate): boolean {
  return new RegExp(`^(?:${pattern})$`).test(value);
}

/** A pinned tenant is the only one accepted: the vendor's keys sign for all tenants. */
//= oidc-core#3.1.3.7
export function isPinnedTenant(value: string, { pinned }: IssuerTemplate): boolean {
  return pinned === undefined || value.toLowerCase() === pinned.toLowerCase();
}

/**
 * @param values of the entry's placeholders
 * @returns the same object when no value names a tenant
 */
export function pinTenant(vendor: Vendor, values: Readonly<Record<string, string>>): Vendor {
  const { issuerTemplate } = vendor;
  const pinned = issuerTemplate?.pinnedBy === undefined ? undefined : values[issuerTemplate.pinnedBy];
  if (issuerTemplate === undefined || pinned === undefined || !isTenant(pinned, issuerTemplate)) return vendor;
  return { ...vendor, issuerTemplate: { ...issuerTemplate, pinned } };
}
