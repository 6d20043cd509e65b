/**
 * Reads the vendor's redirect strictly, before any of it is used. Pure: the app has already found
 * the flow.
 */
import { defined } from "../mechanics/defined.ts";
import { OAuthError } from "../protocol/errors.ts";
import type { Parameters } from "../protocol/parameters.ts";
import { requireIssuer } from "../vendor-client/issuer.ts";
import type { ResolvedVendor } from "../registry/vendor.ts";

/** The code in a vendor's redirect, and the parameters beside it. */
export interface VendorAnswer {
  readonly code: string;
  readonly iss?: string;
  /** Only if the token request repeats it. */
  readonly state?: string;
  /** The callback parameters that the vendor's entry declares. */
  readonly callbackData: Readonly<Record<string, string>>;
}

/** An answer without a code: the vendor refused. */
export interface VendorRefusal {
  /** As received; undefined if the vendor said nothing but our `state`. */
  readonly error: string | undefined;
}

/**
 * Tokens and profiles in the front channel are never read. A redirect that has one is not an answer
 * to a code request.
 */
const NEVER_IN_A_CODE_RESPONSE = ["access_token", "id_token", "profile", "user"];
const MAX_CODE_LENGTH = 4096;

/**
 * @param flow the state when the flow began: the stricter of then and now applies
 * @returns the code, or the vendor's error as received: its `error`, or the `error_code` of vendors
 *   that have no `error` (Facebook)
 * @throws OAuthError invalid_request, reason `missing_issuer`, `issuer_mismatch` or
 *   `malformed_response`
 */
//= rfc9207#2.4
//= bar#CB-16
export function readVendorAnswer(
  parameters: Parameters,
  vendor: ResolvedVendor,
  { issExpected = false }: { readonly issExpected?: boolean | undefined },
): VendorAnswer | VendorRefusal {
  //= bar#CB-16
  //= bar#X-1
  requireIssuer({ ...vendor, issExpected: vendor.issExpected || issExpected }, parameters.sent("iss"));
  const { callbackCodeName = "code" } = vendor;
  const code = parameters.get(callbackCodeName);
  const error = parameters.get("error");
  //= bar#CB-11
  const isSmuggled = NEVER_IN_A_CODE_RESPONSE.some(
    (name) => parameters.has(name) && !vendor.callbackParams.includes(name),
  );
  //= bar#CB-11
  if (isSmuggled || (code?.length ?? 0) > MAX_CODE_LENGTH || (code !== undefined && error !== undefined)) {
    throw new OAuthError("invalid_request", "This is not a valid authorization response", {
      reason: "malformed_response",
    });
  }
  if (code === undefined) return { error: error ?? parameters.get("error_code") };
  const iss = parameters.get("iss");
  const state = vendor.repeatsState === true ? parameters.get("state") : undefined;
  return {
    code,
    ...defined({ iss, state }),
    callbackData: declared(parameters, vendor),
  };
}

function declared(parameters: Parameters, { callbackParams }: ResolvedVendor): Record<string, string> {
  const sent = callbackParams.map((name) => [name, parameters.get(name)] as const);
  return Object.fromEntries(sent.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}
