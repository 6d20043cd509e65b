/**
 * The vendor answers the authorization request with an error. Maps it to our error and to what the
 * client reads in its redirect; no request is made. issuer.ts checks the `iss` of the same answer.
 */
import { defined } from "../../mechanics/defined.ts";
import { OAuthError, type OAuthErrorCode } from "../../protocol/errors.ts";
import type { Parameters } from "../../protocol/parameters.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import { foldCode, type Meaning, ownMeaning, safeVendorCode } from "../errors.ts";

const CALLBACK_ERRORS: ReadonlyMap<string, OAuthErrorCode> = new Map<string, OAuthErrorCode>([
  ["temporarily_unavailable", "temporarily_unavailable"],
  ["invalid_scope", "invalid_scope"],
  ["invalid_client", "vendor_credentials_rejected"],
  ["unauthorized_client", "vendor_credentials_rejected"],
  ["consent_required", "access_denied"],
]);

/**
 * These words mean a cancellation with any subject, also when joined to one: `access_denied`,
 * `user_cancelled_login`, `UserCancel`, `accessdenied`.
 */
const CANCELLED =
  /(^|_)(user|access|consent|login|request)?(cancel|cancels|cancell?ed|cancell?ing|cancell?ation|deny|denied|declines?|declined)(_|$)/;
/**
 * These words also describe machines: the subject has to be the user or the consent, or be missing.
 */
const ABORTED =
  /^abort(ed)?$|(^|_)(user|consent)_?(aborts?|rejects?|refuses?|(abort|reject|refus)ed)(_|$)|(^|_)(abort|reject|refus)ed_by_(the_)?(user|end_?user|resource_owner)(_|$)/;

/** The user declined. */
function isCancelled(folded: string): boolean {
  return CANCELLED.test(folded) || ABORTED.test(folded);
}

/** A vendor's error on the callback as one of our own. */
export interface CallbackError extends Meaning {
  /** The vendor's own code, reduced to the permitted characters. */
  readonly vendorError: string;
}

/**
 * @param parameters of the callback as received; `error` is present
 * @param vendor its own codes and its own mapping of them, which take precedence
 */
export function mapCallbackError(
  parameters: Readonly<Record<string, string>> & { readonly error: string },
  vendor: Partial<Pick<ResolvedVendor, "callbackErrors" | "classifyError">> = {},
): CallbackError {
  const error = vendor.classifyError?.(parameters) ?? parameters.error;
  const folded = foldCode(error);
  const usual = CALLBACK_ERRORS.get(folded) ?? (isCancelled(folded) ? "access_denied" : "server_error");
  return { code: usual, vendorError: safeVendorCode(error), ...ownMeaning(vendor.callbackErrors, error) };
}

/**
 * A vendor's error on the callback, as the client receives it in its redirect.
 *
 * @param vendorError the `error` parameter as received, or what the vendor has in its place;
 *   undefined if it sent neither that nor a code
 */
export function relayedError(
  vendorError: string | undefined,
  parameters: Parameters,
  vendor: ResolvedVendor,
  credentialsSource: VendorCredentials["source"],
): OAuthError {
  if (vendorError === undefined)
    return new OAuthError("server_error", "The vendor returned neither a code nor an error", {
      reason: "malformed_response",
    });
  const sent = Object.fromEntries(parameters.names().map((name) => [name, parameters.get(name) ?? ""]));
  const mapped = mapCallbackError({ ...sent, error: vendorError }, vendor);
  const { code, description = describe(code), reason } = mapped;
  return new OAuthError(code, description, {
    vendorError: mapped.vendorError,
    ...defined({ reason }),
    ...(code === "vendor_credentials_rejected" ? { credentialsSource } : {}),
  });
}

function describe(code: string): string {
  if (code === "access_denied") return "The user cancelled at the vendor";
  if (code === "vendor_credentials_rejected") return "The vendor refused the client credentials: update them";
  return "The vendor returned an error";
}
