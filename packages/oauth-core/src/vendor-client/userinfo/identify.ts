/** The user of tokens that have just been issued: the key of all records of that user. */
import type { ResolvedVendor, VendorTokens } from "../../registry/vendor.ts";
import { accountIdentity, readAccount } from "./userinfo.ts";
import type { CallDeps } from "../binding.ts";
import { parseIdToken } from "../id-token/checks.ts";
import { identityMissing, identityOf } from "./identity.ts";
import { hasIdTokens } from "../issuer.ts";

/**
 * Asks the vendor only when the tokens do not name the user.
 *
 * @returns stable, and unique among all users of the vendor; never an e-mail address
 * @throws OAuthError vendor_response_invalid, `identity_missing`; temporarily_unavailable
 */
export async function identify(vendor: ResolvedVendor, tokens: VendorTokens, deps: CallDeps): Promise<string> {
  const { identity } = vendor;
  if (asksAccount(vendor, tokens)) return identifyByAccount(vendor, tokens, deps);
  if (typeof identity === "object" && identity.from === "token_response")
    return identityOf(tokens.vendorData, identity.members);
  if (tokens.idToken === undefined) throw identityMissing("no ID token");
  // Its signature and claims were checked when it was issued (token/validate-response.ts).
  if (typeof identity === "object") return identityOf(parseIdToken(tokens.idToken.raw).claims, identity.members);
  return identityOf({ sub: tokens.idToken.subject }, ["sub"]);
}

/** Whether `identify` sends a request: not if the tokens name their user. */
export function asksAccount(vendor: ResolvedVendor, { idToken }: Pick<VendorTokens, "idToken">): boolean {
  const { identity } = vendor;
  if (typeof identity === "object")
    return identity.from === "id_token" && idToken === undefined && vendor.account?.identity !== undefined;
  return vendor.identity === "unknown" || idToken === undefined || !tellsSubject(vendor);
}

async function identifyByAccount(
  vendor: ResolvedVendor,
  { accessToken, idToken, vendorData }: VendorTokens,
  deps: CallDeps,
): Promise<string> {
  const members = accountIdentity(vendor);
  if (members === undefined) throw identityMissing("neither ID token nor account");
  const request = { accessToken, subject: idToken?.subject, tokenResponse: vendorData };
  const found = await readAccount(vendor, request, deps);
  if (found === undefined) throw identityMissing("the vendor refuses its own token");
  return identityOf(found.account, members);
}

/**
 * The subject of an ID token names a user at one issuer: with one issuer per tenant, two users may
 * have the same.
 */
function tellsSubject(vendor: ResolvedVendor): boolean {
  const { identity, account: own, issuerTemplate } = vendor;
  return identity === undefined && own?.identity === undefined && issuerTemplate === undefined && hasIdTokens(vendor);
}

/**
 * Whether `identify` has a way, for programs that must not start without one.
 *
 * @param vendor resolved: metadata may name userinfo
 * @param whom `user`: an organization is not enough, as two users of it would be one
 */
export function canIdentify(vendor: ResolvedVendor, whom: "account" | "user" = "account"): boolean {
  //= bar#UI-1
  if (whom === "user" && vendor.identifies !== undefined) return false;
  if (typeof vendor.identity === "object") return true;
  return tellsSubject(vendor) || accountIdentity(vendor) !== undefined;
}
