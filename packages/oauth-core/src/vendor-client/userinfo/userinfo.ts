/**
 * The vendor's account of the user of an access token: the entry's own endpoint, else OpenID
 * Connect's userinfo.
 */
import { processUserInfoResponse, skipSubjectCheck } from "oauth4webapi";
import type { Clock, JsonObject } from "../../ports.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { isJsonObject, withoutNulls } from "../../protocol/strict-json.ts";
import type { AccountEndpoint, IdentityMembers } from "../../registry/account.ts";
import type { ResolvedVendor, Vendor } from "../../registry/vendor.ts";
import { accountRequest } from "./account-request.ts";
import { hasIdTokens } from "../issuer.ts";
import { memberAt } from "../member-path.ts";
import { knownScope } from "../token/response.ts";
import { jsonResponse, readObject, readObjectOrList, requireAnswer } from "../answer.ts";
import type { CallDeps } from "../binding.ts";
import {
  foldCode,
  invalidVendorResponse,
  saidBy,
  translateVendorError,
  type VendorCall,
  vendorRefusal,
} from "../errors.ts";

interface AccountRequest {
  readonly accessToken: string;
  /**
   * The subject of the ID token that came with the access token, if one did: userinfo has to name
   * the same. An entry's own endpoint has other names for users and is not compared.
   */
  readonly subject?: string | undefined;
  /**
   * For a vendor without ID tokens an account without `sub` is returned too: its userinfo endpoint
   * may be an account call with its own names.
   */
  readonly acceptsOwnNames?: boolean;
  /** The members of the token response that the access token came with, for an account at a host that it names. */
  readonly tokenResponse?: JsonObject;
}

const CALL: VendorCall = { what: "account", spends: false };

/** The account, and what the same answer says about the token. */
export interface AccountAnswer {
  readonly account: JsonObject;
  readonly scope: readonly string[] | undefined;
}

/**
 * @returns undefined when the vendor refuses the token
 * @throws OAuthError temporarily_unavailable; vendor_response_invalid, `account_forbidden` when the
 *   token is valid but not for this; server_error, `account_unknown`, when the vendor has no such
 *   endpoint
 */
export async function readAccount(
  vendor: ResolvedVendor,
  request: AccountRequest,
  deps: CallDeps,
  signal: AbortSignal = deps.deadline(),
): Promise<AccountAnswer | undefined> {
  const { account: own, userinfoEndpoint } = vendor;
  if (own?.host !== undefined && request.tokenResponse === undefined) throw accountUnknown();
  try {
    if (own !== undefined) return await askOwn(own, vendor, request, deps, signal);
    if (userinfoEndpoint !== undefined)
      return await askUserinfo({ ...vendor, userinfoEndpoint }, request, deps, signal);
  } catch (error) {
    throw translateVendorError(error, CALL);
  }
  throw accountUnknown();
}

export function accountUnknown(): OAuthError {
  return new OAuthError("server_error", "This vendor has no endpoint that identifies the user of a token", {
    reason: "account_unknown",
  });
}

/** Whether an access token is enough to ask for the account: not if its token response names the host. */
export function hasAccountOfToken({ account: own, userinfoEndpoint }: Vendor): boolean {
  return own === undefined ? userinfoEndpoint !== undefined : own.host === undefined;
}

/**
 * @returns the members of what `account` returns that form the identity; undefined when it has none
 */
export function accountIdentity({ account: own, userinfoEndpoint }: Vendor): IdentityMembers | undefined {
  if (own !== undefined) return own.identity;
  return userinfoEndpoint === undefined ? undefined : ["sub"];
}

//= oidc-core#5.3.2
async function askUserinfo(
  vendor: ResolvedVendor & { readonly userinfoEndpoint: string },
  { accessToken, subject, acceptsOwnNames = false }: AccountRequest,
  { bindings, fetch, now }: CallDeps,
  signal: AbortSignal,
): Promise<AccountAnswer | undefined> {
  const { server, hrefOf } = bindings.ofVendor(vendor);
  const { url, ...sent } = accountRequest({ endpoint: hrefOf(vendor.userinfoEndpoint), method: "GET" }, accessToken);
  const response = await fetch(url, { ...sent, signal });
  if (isRefused(response, now)) return undefined;
  // A signed response is not a JSON object. None is requested, so none is accepted.
  //= bar#UI-2
  const answer = withoutNulls(await readObject(response, CALL));
  if (saysInvalidToken(response, answer)) return undefined;
  if (acceptsOwnNames && response.status === 200 && answer.sub === undefined && !hasIdTokens(vendor))
    return { account: answer, scope: undefined };
  const reread = jsonResponse(answer, response.status);
  // Userinfo is requested by the access token alone, which may belong to another user.
  //= bar#UI-1
  await processUserInfoResponse(server, ANY_CLIENT, subject ?? skipSubjectCheck, reread);
  return { account: answer, scope: undefined };
}

/** The library only needs to know whether the client's userinfo responses are signed. */
const ANY_CLIENT = { client_id: "none" };

async function askOwn(
  own: AccountEndpoint,
  vendor: ResolvedVendor,
  { accessToken, tokenResponse }: AccountRequest,
  { fetch, now }: CallDeps,
  signal: AbortSignal,
): Promise<AccountAnswer | undefined> {
  const { member, refusal, scopeHeader } = own;
  const { url, ...sent } = accountRequest(own, accessToken, tokenResponse);
  const response = await fetch(url, { ...sent, signal });
  if (isRefused(response, now)) return undefined;
  const answer = await readObjectOrList(response, CALL);
  const said = isJsonObject(answer) ? answer : {};
  if (saysInvalidToken(response, said)) return undefined;
  const problem = refusal === undefined ? undefined : memberAt(answer, refusal.member);
  if (typeof problem === "string") {
    if (refusal?.values.includes(problem) === true) return undefined;
    throw vendorRefusal(problem, { ...CALL, errors: vendor.tokenErrors }, saidBy(response, said, now));
  }
  if (problem !== undefined || response.status !== 200)
    throw invalidVendorResponse(`account: status ${response.status}, and no account`);
  const found = member === undefined ? answer : memberAt(answer, member);
  const listed = scopeHeader === undefined ? null : response.headers.get(scopeHeader);
  if (isJsonObject(found)) return { account: found, scope: knownScope(listed, ",") };
  throw invalidVendorResponse("account: no account in the response");
}

/**
 * @throws OAuthError temporarily_unavailable, vendor_response_invalid as for every response;
 *   `account_forbidden` for a 403: the token is valid, and its scope too narrow for this
 */
function isRefused(response: Response, now: Clock): boolean {
  requireAnswer(response, CALL, now);
  //= rfc6750#3.1
  if (response.status === 403) {
    const description = "The vendor gives no account for this token: a scope may be missing";
    const isScope = INSUFFICIENT_SCOPE.test(response.headers.get("www-authenticate") ?? "");
    throw new OAuthError("vendor_response_invalid", description, {
      reason: FORBIDDEN,
      ...(isScope ? { vendorError: "insufficient_scope" } : {}),
    });
  }
  // 414, 431: the token is too long to be one of the vendor's. Nothing else in the request differs.
  return [401, 414, 431].includes(response.status);
}

/** Its status should be 401, and some vendors send 400. */
//= rfc6750#3.1
function saysInvalidToken({ status }: Response, { error }: JsonObject): boolean {
  return status === 400 && typeof error === "string" && foldCode(error) === "invalid_token";
}

const FORBIDDEN = "account_forbidden";
const INSUFFICIENT_SCOPE = /\berror="?insufficient_scope\b/i;

/** The vendor says that it knows the token, which lacks a scope for its account. */
export function lacksScopeForAccount(error: unknown): boolean {
  if (!(error instanceof OAuthError) || error.extras.reason !== FORBIDDEN) return false;
  return error.extras.vendorError === "insufficient_scope";
}
