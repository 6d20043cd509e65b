/**
 * The vendor sends the browser back to our callback. What can be said about its answer without asking anybody: whether it
 * comes from the vendor we sent the browser to, and what its error means. State and flow record are the caller's.
 * Before it: authorization-url.ts. After it: redeem-code.ts. Callers: the broker's and the template's callback.
 */
import { OAuthError, type OAuthErrorCode } from "../../protocol/errors.ts";
import type { ResolvedVendor } from "../../vendors/vendor.ts";
import { withoutScheme } from "../id-token/verify.ts";
import { isPinnedTenant, isTenant } from "../issuer.ts";
import { ownMeaning, safeVendorCode } from "../errors.ts";

/**
 * @param iss as sent, after form decoding; an empty one is a wrong one, only `undefined` is absent
 * @throws OAuthError invalid_request, reason `missing_issuer` or `issuer_mismatch`
 */
//= rfc9207#2.4
//= bar#CB-16
export function requireIssuer(
  vendor: Pick<ResolvedVendor, "issuer" | "issExpected" | "authorizationEndpoint"> & IssuerSpellings,
  iss: string | undefined,
): void {
  if (iss === undefined) {
    if (!vendor.issExpected) return;
    throw new OAuthError("invalid_request", "The answer does not say which vendor it is from", {
      reason: "missing_issuer",
    });
  }
  const isTheirs =
    vendor.issuer === undefined
      ? isOfSameOrigin(iss, vendor.authorizationEndpoint)
      : iss === vendor.issuer || isSpellingOf({ ...vendor, issuer: vendor.issuer }, iss);
  if (!isTheirs) {
    throw new OAuthError("invalid_request", "The answer is from another vendor", { reason: "issuer_mismatch" });
  }
}

type IssuerSpellings = Partial<Pick<ResolvedVendor, "issuerSpelling" | "issuerTemplate">>;

/** Without its scheme, or of one of the tenants behind a template. */
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
 * An entry of endpoints alone names no issuer to compare with. A vendor that says who it is all the same must then say so
 * under the origin we sent the browser to (docs/decisions/0008).
 */
function isOfSameOrigin(iss: string, authorizationEndpoint: string): boolean {
  return URL.parse(iss)?.origin === new URL(authorizationEndpoint).origin;
}

const CALLBACK_ERRORS: ReadonlyMap<string, OAuthErrorCode> = new Map<string, OAuthErrorCode>([
  ["temporarily_unavailable", "temporarily_unavailable"],
  ["invalid_scope", "invalid_scope"],
  ["invalid_client", "vendor_credentials_rejected"],
  ["unauthorized_client", "vendor_credentials_rejected"],
  ["consent_required", "access_denied"],
]);

/** These words say it whoever is meant, also joined to one: `access_denied`, `user_cancelled_login`, `UserCancel`, `accessdenied`. */
const CANCELLED =
  /(^|_)(user|access|consent|login|request)?(cancel|cancels|cancell?ed|cancell?ation|deny|denied|declines?|declined)(_|$)/;
/** Of these, machines are subjects too: it has to be the person, or the consent, or nobody. */
const ABORTED =
  /^abort(ed)?$|(^|_)(user|consent)_?(aborts?|rejects?|refuses?|(abort|reject|refus)ed)(_|$)|(^|_)(abort|reject|refus)ed_by_(the_)?(user|end_?user|resource_owner)(_|$)/;

/** A person said no. */
function isCancelled(folded: string): boolean {
  return CANCELLED.test(folded) || ABORTED.test(folded);
}

/** What a vendor's error on the callback is here. */
export interface CallbackError {
  readonly code: OAuthErrorCode;
  /** The vendor's own code, cut to the characters it may have. */
  readonly vendorError: string;
  /** Where the vendor's file says more than a code. */
  readonly reason?: string;
  readonly description?: string;
}

/**
 * @param parameters of the callback as received; `error` is there
 * @param vendor its own codes and its own reading of them, which win
 */
export function mapCallbackError(
  parameters: Readonly<Record<string, string>> & { readonly error: string },
  vendor: Partial<Pick<ResolvedVendor, "callbackErrors" | "classifyError">> = {},
): CallbackError {
  const error = vendor.classifyError?.(parameters) ?? parameters.error;
  const folded = error
    .slice(0, 64)
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[\s.-]+/g, "_");
  const usual = CALLBACK_ERRORS.get(folded) ?? (isCancelled(folded) ? "access_denied" : "server_error");
  return { code: usual, vendorError: safeVendorCode(error), ...ownMeaning(vendor.callbackErrors, error) };
}
