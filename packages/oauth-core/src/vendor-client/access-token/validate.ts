/**
 * Whether an access token somebody presents is good at the vendor, whose it is, and which client it was issued to. The vendor's
 * own check where its file names one, else introspection, else the account. Caller: pre-registered mode's gate.
 */
import { OAuthError } from "../../protocol/errors.ts";
import type { TokenCheck } from "../../vendors/account.ts";
import type { ResolvedVendor, VendorCredentials } from "../../vendors/vendor.ts";
import {
  account,
  type AccountDeps,
  accountIdentity,
  accountUnknown,
  isForbiddenAccount,
} from "../userinfo/userinfo.ts";
import { introspect, introspectedIdentity, isIntrospectable } from "./introspect.ts";
import { isIssuedTo } from "./issued-to.ts";
import { identityMissing, identityOf, memberAt } from "../userinfo/member-path.ts";
import { checkToken } from "./token-check.ts";
import type { TokenStatement, TokenVerdict } from "./verdict.ts";

/** What can travel in a header; longer is no token of anybody's. */
//= rfc6750#2.1
const BEARER_TOKEN = /^[\x21-\x7e]{1,16384}$/;

/**
 * @param accessToken as presented, of any shape
 * @param credentials the client that tokens have to be of; with a secret, what the vendor is asked as
 * @throws OAuthError temporarily_unavailable; vendor_response_invalid; vendor_credentials_rejected; server_error,
 *   `account_unknown`, when the vendor has no way, `client_unknown`, when none of its ways tells the client
 */
export async function judgeToken(
  vendor: ResolvedVendor,
  accessToken: string,
  credentials: VendorCredentials | undefined,
  deps: AccountDeps,
): Promise<TokenVerdict> {
  if (!canJudge(vendor, credentials)) throw cannotJudge(vendor);
  if (!BEARER_TOKEN.test(accessToken)) return inactive("malformed");
  const signal = deps.deadline();
  const statement = await ask(vendor, accessToken, credentials, deps, signal);
  if (statement === undefined) return inactive("refused");
  const { clients, scope, expiresAt } = statement;
  if (!isIssuedTo(clients, credentials)) return inactive("other_client");
  if (expiresAt !== undefined && expiresAt <= deps.now()) return inactive("expired");
  const user = await userOf(statement, vendor, accessToken, deps, signal);
  if (user === undefined) return inactive("no_account");
  const [clientId] = clients;
  return {
    active: true,
    user,
    ...(clientId === undefined ? {} : { clientId }),
    ...(scope === undefined ? {} : { scope }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/**
 * Whether `judgeToken` has a way that ends at a person and, where tokens have to be of one client,
 * tells the client: the account alone does not. For programs that must not start without.
 *
 * @param vendor resolved: metadata may name introspection and userinfo
 */
export function canJudge(vendor: ResolvedVendor, credentials: VendorCredentials | undefined): boolean {
  const check = usableCheck(vendor, credentials);
  const introspects = check === undefined && isIntrospectable(vendor, credentials);
  if (credentials !== undefined && check === undefined && !introspects) return false;
  const told = check?.identity ?? (introspects ? introspectedIdentity(vendor) : undefined);
  return told !== undefined || accountIdentity(vendor) !== undefined;
}

function cannotJudge(vendor: ResolvedVendor): OAuthError {
  if (!canJudge(vendor, undefined)) return accountUnknown();
  return new OAuthError("server_error", "This vendor does not say which client a token was issued to", {
    reason: "client_unknown",
  });
}

function inactive(reason: string): TokenVerdict {
  return { active: false, reason };
}

/** @returns undefined for a token that is not good; nothing of one that only the account will judge */
async function ask(
  vendor: ResolvedVendor,
  accessToken: string,
  credentials: VendorCredentials | undefined,
  deps: AccountDeps,
  signal: AbortSignal,
): Promise<TokenStatement | undefined> {
  const check = usableCheck(vendor, credentials);
  if (check !== undefined) return checkToken({ check, vendor, accessToken, credentials, signal }, deps);
  if (credentials !== undefined && isIntrospectable(vendor, credentials))
    return introspect(vendor, credentials, accessToken, deps, signal);
  return NOTHING;
}

const NOTHING: TokenStatement = {
  answer: {},
  identity: undefined,
  isDoubtful: false,
  clients: [],
  scope: undefined,
  expiresAt: undefined,
};

function usableCheck(
  { tokenCheck }: ResolvedVendor,
  credentials: VendorCredentials | undefined,
): TokenCheck | undefined {
  const needsSecret = tokenCheck?.authentication === "basic";
  return needsSecret && credentials?.clientSecret === undefined ? undefined : tokenCheck;
}

/** @returns undefined where the vendor refuses this token its account */
async function userOf(
  { answer, identity, isDoubtful }: TokenStatement,
  vendor: ResolvedVendor,
  accessToken: string,
  deps: AccountDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const members = accountIdentity(vendor);
  const isTold = identity?.every((path) => memberAt(answer, path) !== undefined) === true;
  if (identity !== undefined && isTold && (!isDoubtful || members === undefined)) return identityOf(answer, identity);
  if (members === undefined) throw identityMissing("the check of the token names nobody");
  const found = await account(vendor, { accessToken }, deps, signal).catch((error: unknown) => {
    if (isForbiddenAccount(error)) return undefined;
    throw error;
  });
  return found === undefined ? undefined : identityOf(found, members);
}
