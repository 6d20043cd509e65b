/**
 * The vendor client: one object that binds the functions of this folder to a Fetch and a Clock.
 * Created once per process and set of egress rules; its caches live as long as it does.
 */
import { defined } from "../mechanics/defined.ts";
import { systemTimer } from "../mechanics/system-timer.ts";
import type { JsonObject } from "../ports.ts";
import type { ResolvedVendor, Vendor, VendorCredentials, VendorTokens } from "../registry/vendor.ts";
import { account } from "./userinfo/userinfo.ts";
import { type AccessTokenCheck, type CheckRequest, checkAccessToken } from "./access-token/check.ts";
import { type AuthorizationRequest, authorizationUrl } from "./authorization/url.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import { createDiscovery } from "./discovery/discover.ts";
import { egressError, isEgressError } from "../egress/errors.ts";
import { FORM_TYPE } from "../egress/messages.ts";
import { identify } from "./userinfo/identify.ts";
import { createSigningKeys } from "./id-token/jwks.ts";
import { validateAccessToken } from "./access-token/validate.ts";
import { type RedeemRequest, redeemCode } from "./token/redeem.ts";
import { type RefreshRequest, refreshTokens } from "./token/refresh.ts";
import { registerClient, type RegistrationAnswer, type RegistrationRequest } from "./registration/register.ts";
import {
  discardTokens,
  grantRevocation,
  type GrantTokens,
  type Revoked,
  type RevokeRequest,
  revokeToken,
} from "./token/revoke.ts";
import type { TokenDeps } from "./token/validate.ts";
import type { AccessTokenValidation } from "./access-token/validate.ts";
import { createBindings, type VendorClientDeps } from "./binding.ts";

export {
  askedResource,
  askedScope,
  authorizationParameterName,
  type AuthorizationRequest,
  namesReservedParameter,
} from "./authorization/url.ts";
export { type FlowContext, flowContextHash, type Kept, keptOf, requireTokenHost } from "./kept.ts";
export { VENDOR_OPERATION_SECONDS } from "./deadline.ts";
export { memberAt } from "./member-path.ts";
export { asksAccount, canIdentify } from "./userinfo/identify.ts";
export { canValidateAccessToken } from "./access-token/validate.ts";
export { relayedError } from "./authorization/error.ts";
export { createSigningKeys, usableKeys } from "./id-token/jwks.ts";
export { type IdTokenParts, idTokenSubject, parseIdToken, requireSameSubject } from "./id-token/verify.ts";
export { noRegistration } from "./registration/endpoint.ts";
export { expandVendor, namesInHost, requireFit, templatesOf, withClientId, withDefaults } from "./templates.ts";
export { requireMetDemands } from "./authorization/demands.ts";
export { hasIdTokens } from "./issuer.ts";
export type { RedeemRequest } from "./token/redeem.ts";
export type { RefreshRequest } from "./token/refresh.ts";
export type { RegistrationAnswer, RegistrationRequest } from "./registration/register.ts";
export type { GrantTokens, Revoked, RevokeRequest } from "./token/revoke.ts";
export type { AccessTokenValidation } from "./access-token/validate.ts";
export type { AccessTokenCheck, CheckedAccount, CheckRequest } from "./access-token/check.ts";
export type { VendorClientDeps } from "./binding.ts";

/** Everything we ask a vendor, bound to one fetch and one clock. */
export interface VendorClient {
  /**
   * The entry with its endpoints, discovered if it has none.
   *
   * @throws OAuthError vendor_response_invalid, temporarily_unavailable
   */
  resolve(vendor: Vendor): Promise<ResolvedVendor>;
  /**
   * Where the browser is sent, with every parameter exactly once.
   *
   * @throws OAuthError invalid_request when `extra` names a parameter that is ours; server_error
   *   when a required challenge is missing
   */
  authorizationUrl(vendor: ResolvedVendor, request: AuthorizationRequest): string;
  /**
   * The code becomes tokens: one request, never a second one.
   *
   * @throws OAuthError temporarily_unavailable without `retry`: the vendor saw nothing, the code is
   *   as good as before; with `retry: "restart"`: the code is gone. Otherwise the vendor answered:
   *   invalid_grant, vendor_credentials_rejected, invalid_scope, vendor_response_invalid
   */
  redeemCode(vendor: ResolvedVendor, credentials: VendorCredentials, request: RedeemRequest): Promise<VendorTokens>;
  /**
   * Without a refresh token in the result, the old token stays valid.
   *
   * @throws OAuthError as redeemCode; `retry: "restart"` only if the vendor rotates
   */
  refreshTokens(vendor: ResolvedVendor, credentials: VendorCredentials, request: RefreshRequest): Promise<VendorTokens>;
  /**
   * @throws OAuthError unsupported_token_type with `help` if the vendor has no way;
   *   temporarily_unavailable when it cannot now; vendor_credentials_rejected;
   *   vendor_response_invalid
   */
  revokeToken(vendor: ResolvedVendor, credentials: VendorCredentials, request: RevokeRequest): Promise<Revoked>;
  /**
   * The one request that ends as much of a grant as this vendor allows: by the refresh token, which
   * ends its access tokens too, except if the vendor revokes by access token only.
   *
   * @throws OAuthError as revokeToken
   */
  revokeGrant(vendor: ResolvedVendor, credentials: VendorCredentials, tokens: GrantTokens): Promise<Revoked>;
  /**
   * The vendor's account of the token's user; undefined when the vendor refuses the token.
   *
   * @param subject of the ID token that came with it, if one did: userinfo has to name the same
   * @throws OAuthError temporarily_unavailable; vendor_response_invalid, `account_forbidden` when
   *   the token is good and not for this; server_error, `account_unknown`, when the vendor has no
   *   such endpoint
   */
  account(vendor: ResolvedVendor, accessToken: string, subject?: string): Promise<JsonObject | undefined>;
  /**
   * Whether a presented token is valid, whose it is and for which client.
   *
   * @throws OAuthError temporarily_unavailable; vendor_response_invalid, `account_forbidden` when
   *   the account is answered 403 (`lacksScopeForAccount` where for a scope);
   *   vendor_credentials_rejected; server_error, `account_unknown`, when the vendor has no way,
   *   `client_unknown`, when none of its ways names the client
   */
  validateAccessToken(
    vendor: ResolvedVendor,
    accessToken: string,
    credentials?: VendorCredentials,
  ): Promise<AccessTokenValidation>;
  /**
   * Whether the token of a connection is still good, as far as the vendor has a way to say so.
   *
   * @throws OAuthError invalid_request for a text that is not a token; `client_mismatch`,
   *   `account_mismatch` for a token of another client or account; temporarily_unavailable;
   *   vendor_response_invalid; vendor_credentials_rejected
   */
  checkAccessToken(
    vendor: ResolvedVendor,
    credentials: VendorCredentials,
    request: CheckRequest,
  ): Promise<AccessTokenCheck>;
  /**
   * The user whose tokens have just been issued: stable, and unique at the vendor.
   *
   * @throws OAuthError vendor_response_invalid, `identity_missing`; temporarily_unavailable
   */
  identify(vendor: ResolvedVendor, tokens: VendorTokens): Promise<string>;
  /**
   * Registers a client at the vendor for the caller, by one request, and returns the vendor's
   * response unchanged.
   *
   * @throws OAuthError invalid_request if the vendor has no registration endpoint;
   *   vendor_response_invalid; temporarily_unavailable when the vendor cannot be reached
   */
  registerClient(vendor: Vendor, request: RegistrationRequest): Promise<RegistrationAnswer>;
}

/**
 * @param options `fetch` is that of egress/index.ts; `now` decides every lifetime
 */
export function createVendorClient(
  options: VendorClientDeps,
  { deadline = createDeadline(options.timer ?? systemTimer) }: { readonly deadline?: Deadline } = {},
): VendorClient {
  const { now, timer = systemTimer } = options;
  const fetch = vendorFetch(options.fetch);
  const deps = { ...options, fetch };
  const bindings = createBindings(deps);
  const documents = vendorFetch(options.fetchDocuments ?? options.fetch);
  const discovery = createDiscovery({ ...deps, fetch: documents });
  const keys = createSigningKeys({ fetch: documents, now });
  const common = { now, timer, fetch, bindings, discovery, keys, deadline };
  const { onOddScope } = options;
  const accept: TokenDeps = {
    ...common,
    ...defined({ onOddScope }),
    discard: (vendor, credentials, tokens) => discardTokens(vendor, credentials, tokens, common),
  };
  return {
    resolve: discovery.resolve,
    authorizationUrl,
    redeemCode: (vendor, credentials, request) => redeemCode(vendor, credentials, request, accept),
    refreshTokens: (vendor, credentials, request) => refreshTokens(vendor, credentials, request, accept),
    revokeToken: (vendor, credentials, request) => revokeToken(vendor, credentials, request, accept),
    revokeGrant: (vendor, credentials, tokens) =>
      revokeToken(vendor, credentials, grantRevocation(vendor, tokens), accept),
    account: (vendor, accessToken, subject) => account(vendor, { accessToken, subject }, accept),
    validateAccessToken: (vendor, accessToken, credentials) =>
      validateAccessToken(vendor, accessToken, credentials, accept),
    checkAccessToken: (vendor, credentials, request) => checkAccessToken(vendor, credentials, request, accept),
    identify: (vendor, tokens) => identify(vendor, tokens, accept),
    registerClient: (vendor, request) => registerClient(vendor, request, accept),
  };
}

/**
 * Any Fetch, as vendors are asked: a form of oauth4webapi is sent under its bare type, and an error
 * of another Fetch, which does not say whether the request was sent, counts as sent.
 */
function vendorFetch(fetch: VendorClientDeps["fetch"]): VendorClientDeps["fetch"] {
  return async (input, init) => {
    try {
      return await fetch(input, withBareFormType(init));
    } catch (error) {
      throw isEgressError(error) ? error : egressError("broken", true, error instanceof Error ? error.name : "unknown");
    }
  };
}

//= rfc6749#B
function withBareFormType(init: RequestInit | undefined): RequestInit | undefined {
  if (!(init?.body instanceof URLSearchParams) || isBare(init.headers)) return init;
  const headers = new Headers(init.headers);
  headers.set("content-type", FORM_TYPE);
  return { ...init, headers: Object.fromEntries(headers) };
}

/** Of our own forms, without building Headers. */
function isBare(headers: RequestInit["headers"]): boolean {
  return headers !== undefined && "content-type" in headers && headers["content-type"] === FORM_TYPE;
}
