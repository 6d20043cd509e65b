/**
 * Whether a presented access token is valid at the vendor, whose it is, and which client it was
 * issued to. Uses the vendor's own check if its entry names one, else introspection, else the
 * account.
 */
import { defined } from "../../mechanics/defined.ts";
import type { EpochSeconds } from "../../ports.ts";
import { OAuthError } from "../../protocol/errors.ts";
import type { IdentityMembers } from "../../registry/account.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import type { CallDeps } from "../binding.ts";
import { accountIdentity, accountUnknown, hasAccountOfToken, readAccount } from "../userinfo/userinfo.ts";
import {
  introspect,
  introspectedIdentity,
  isIntrospectable,
  isIssuedTo,
  NO_INFORMATION,
  type TokenInformation,
} from "./introspect.ts";
import { identityMissing, identityOf } from "../userinfo/identity.ts";
import { memberAt } from "../member-path.ts";
import { checkToken, usableCheck } from "./token-check.ts";

/** What the vendor says of an access token, or why the token is not accepted. */
export type AccessTokenValidation =
  /** `reason`: one word for the log. */
  | { readonly active: false; readonly reason: string }
  | {
      readonly active: true;
      /** Stable and globally unique at the vendor. */
      readonly user: string;
      /** The client it was issued to, if the vendor names it. */
      readonly clientId?: string;
      readonly scope?: readonly string[];
      readonly expiresAt?: EpochSeconds;
    };

/** The length a header can carry; anything longer is not a token. */
//= rfc6750#2.1
export const BEARER_TOKEN = /^[\x21-\x7e]{1,16384}$/;

/**
 * Whether a presented token is valid, whose it is and for which client.
 *
 * @param accessToken as presented, in any format
 * @param credentials the client that tokens must be issued to; with a secret, the vendor is asked
 *   as this client
 * @throws OAuthError temporarily_unavailable; vendor_response_invalid, `account_forbidden` when
 *   the account is answered 403, which says nothing against the token (`lacksScopeForAccount` if
 *   for a scope); vendor_credentials_rejected; server_error, `account_unknown`, when the vendor has no way, `client_unknown`, when none of its
 *   ways names the client
 */
export async function validateAccessToken(
  vendor: ResolvedVendor,
  accessToken: string,
  credentials: VendorCredentials | undefined,
  deps: CallDeps,
): Promise<AccessTokenValidation> {
  if (!canValidateAccessToken(vendor, credentials)) throw cannotValidate(vendor);
  if (!BEARER_TOKEN.test(accessToken)) return inactive("malformed");
  const signal = deps.deadline();
  // Without another way only the account decides.
  const [way = { ask: () => NO_INFORMATION }] = waysToAsk(vendor, credentials, accessToken, deps);
  const information = await way.ask(signal);
  if (information?.isUsable !== true) return inactive("refused");
  const { clients, scope, expiresAt } = information;
  if (!isIssuedTo(clients, credentials)) return inactive("other_client");
  if (expiresAt !== undefined && expiresAt <= deps.now()) return inactive("expired");
  const user = await userOf(information, vendor, accessToken, deps, signal);
  if (user === undefined) return inactive("no_account");
  const [clientId] = clients;
  return {
    active: true,
    user,
    ...defined({ clientId, scope, expiresAt }),
  };
}

/**
 * Whether `validateAccessToken` has a way that identifies the user and, if tokens must be issued to
 * one client, names the client: the account alone does not. For programs that must not start
 * without one.
 *
 * @param vendor resolved: metadata may name introspection and userinfo
 */
export function canValidateAccessToken(vendor: ResolvedVendor, credentials: VendorCredentials | undefined): boolean {
  const check = usableCheck(vendor, credentials);
  const introspects = check === undefined && isIntrospectable(vendor, credentials);
  if (credentials !== undefined && check === undefined && !introspects) return false;
  const identity = check?.identity ?? (introspects ? introspectedIdentity(vendor) : undefined);
  return identity !== undefined || accountUser(vendor) !== undefined;
}

/** The identity members of the account, if it is a user's and the token is enough to ask for it. */
function accountUser(vendor: ResolvedVendor): IdentityMembers | undefined {
  if (vendor.identifies !== undefined || !hasAccountOfToken(vendor)) return undefined;
  return accountIdentity(vendor);
}

function cannotValidate(vendor: ResolvedVendor): OAuthError {
  if (!canValidateAccessToken(vendor, undefined)) return accountUnknown();
  return new OAuthError("server_error", "This vendor does not say which client a token was issued to", {
    reason: "client_unknown",
  });
}

function inactive(reason: string): AccessTokenValidation {
  return { active: false, reason };
}

/** How a vendor is asked about a token. */
export interface AskToken {
  readonly endpoint: string;
  /** Undefined: the vendor does not accept the token. */
  readonly ask: (signal: AbortSignal) => Promise<TokenInformation | undefined>;
}

/** The ways that say which client a token is for. The first says most. */
export function waysToAsk(
  vendor: ResolvedVendor,
  credentials: VendorCredentials | undefined,
  accessToken: string,
  deps: CallDeps,
): AskToken[] {
  const ways: AskToken[] = [];
  const check = usableCheck(vendor, credentials);
  if (check !== undefined) {
    const { endpoint } = check;
    ways.push({ endpoint, ask: (signal) => checkToken(check, vendor, credentials, accessToken, deps, signal) });
  }
  if (credentials !== undefined && isIntrospectable(vendor, credentials)) {
    const { introspectionEndpoint: endpoint } = vendor;
    ways.push({ endpoint, ask: (signal) => introspect(vendor, credentials, accessToken, deps, signal) });
  }
  return ways;
}

/** @returns undefined when the vendor refuses the token at its account endpoint */
async function userOf(
  { answer, identity, isOfUnknownType }: TokenInformation,
  vendor: ResolvedVendor,
  accessToken: string,
  deps: CallDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const members = accountUser(vendor);
  const isIdentified = identity?.every((path) => memberAt(answer, path) !== undefined) === true;
  if (identity !== undefined && isIdentified && (!isOfUnknownType || members === undefined))
    return identityOf(answer, identity);
  if (members === undefined) throw identityMissing("the check of the token names no user");
  const found = await readAccount(vendor, { accessToken }, deps, signal);
  return found && identityOf(found.account, members);
}
