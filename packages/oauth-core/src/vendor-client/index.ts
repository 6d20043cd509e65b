/**
 * The vendor client: one object that binds the functions of this folder to a Fetch and a Clock.
 * Created once per process and set of egress rules; its caches live as long as it does.
 */
import { defined } from "../mechanics/defined.ts";
import type { JsonObject } from "../ports.ts";
import type { ResolvedVendor, VendorCredentials } from "../registry/vendor.ts";
import { readAccount } from "./userinfo/userinfo.ts";
import { checkAccessToken } from "./access-token/check.ts";
import { authorizationUrl } from "./authorization/url.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import { createDiscovery, type Discovery } from "./discovery/discover.ts";
import { egressError, isEgressError } from "../egress/errors.ts";
import { identify } from "./userinfo/identify.ts";
import { createSigningKeys } from "./id-token/jwks.ts";
import { validateAccessToken } from "./access-token/validate.ts";
import { redeemCode } from "./token/redeem.ts";
import { refreshTokens } from "./token/refresh.ts";
import { registerClient } from "./registration/register.ts";
import { discardTokens, revokeGrant, revokeToken } from "./token/revoke.ts";
import type { TokenDeps } from "./token/validate-response.ts";
import { createBindings, type VendorClientDeps } from "./binding.ts";

export { authorizationParameterName, type AuthorizationRequest, namesReservedParameter } from "./authorization/url.ts";
export { type FlowContext, flowContextHash, type Kept, keptOf, requireTokenHost } from "./kept.ts";
export { VENDOR_OPERATION_SECONDS } from "./deadline.ts";
export { memberAt } from "./member-path.ts";
export { asksAccount, canIdentify } from "./userinfo/identify.ts";
export { canValidateAccessToken } from "./access-token/validate.ts";
export { relayedError } from "./authorization/error.ts";
export { createSigningKeys, usableKeys } from "./id-token/jwks.ts";
export { type IdTokenParts, idTokenSubject, parseIdToken, requireSameSubject } from "./id-token/checks.ts";
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

/** A function of this folder without its last argument, which the vendor client supplies. */
type Bound<Ask> = Ask extends (...all: [...infer Given, deps: infer _Deps]) => infer Answer
  ? (...given: Given) => Answer
  : never;

/** Everything we ask a vendor, bound to one fetch and one clock: the functions say what they throw. */
export interface VendorClient {
  readonly resolve: Discovery["resolve"];
  readonly authorizationUrl: typeof authorizationUrl;
  readonly redeemCode: Bound<typeof redeemCode>;
  readonly refreshTokens: Bound<typeof refreshTokens>;
  readonly revokeToken: Bound<typeof revokeToken>;
  readonly revokeGrant: Bound<typeof revokeGrant>;
  /** @param subject of the ID token that came with it, if one did: userinfo has to name the same */
  readonly account: (vendor: ResolvedVendor, accessToken: string, subject?: string) => Promise<JsonObject | undefined>;
  readonly validateAccessToken: (
    vendor: ResolvedVendor,
    accessToken: string,
    credentials?: VendorCredentials,
  ) => ReturnType<typeof validateAccessToken>;
  readonly checkAccessToken: Bound<typeof checkAccessToken>;
  readonly identify: Bound<typeof identify>;
  readonly registerClient: Bound<typeof registerClient>;
}

/**
 * @param options `fetch` is that of egress/index.ts; `now` decides every lifetime
 */
export function createVendorClient(
  options: VendorClientDeps,
  { deadline = createDeadline(options.timer) }: { readonly deadline?: Deadline } = {},
): VendorClient {
  const { now, timer, onLesserAnswer } = options;
  const fetch = vendorFetch(options.fetch);
  const documents = vendorFetch(options.fetchDocuments ?? options.fetch);
  const discovery = createDiscovery({ ...options, fetch: documents });
  const keys = createSigningKeys({ fetch: documents, now, timer });
  const common = { now, timer, fetch, bindings: createBindings({ ...options, fetch }), discovery, keys, deadline };
  const deps: TokenDeps = {
    ...common,
    ...defined({ onLesserAnswer }),
    discard: (vendor, credentials, tokens) => discardTokens(vendor, credentials, tokens, common),
  };
  const bind =
    <Given extends readonly unknown[], Answer>(ask: (...all: [...Given, TokenDeps]) => Answer) =>
    (...given: Given): Answer =>
      ask(...given, deps);
  return {
    resolve: discovery.resolve,
    authorizationUrl,
    redeemCode: bind(redeemCode),
    refreshTokens: bind(refreshTokens),
    revokeToken: bind(revokeToken),
    revokeGrant: bind(revokeGrant),
    account: async (vendor, accessToken, subject) =>
      (await readAccount(vendor, { accessToken, subject }, deps))?.account,
    validateAccessToken: (vendor, accessToken, credentials) =>
      validateAccessToken(vendor, accessToken, credentials, deps),
    checkAccessToken: bind(checkAccessToken),
    identify: bind(identify),
    registerClient: bind(registerClient),
  };
}

/** Any Fetch: an error of another, which does not say whether the request was sent, counts as sent. */
function vendorFetch(fetch: VendorClientDeps["fetch"]): VendorClientDeps["fetch"] {
  return (input, init) =>
    fetch(input, init).catch((error: unknown) => {
      throw isEgressError(error) ? error : egressError("broken", true, error instanceof Error ? error.name : "unknown");
    });
}
