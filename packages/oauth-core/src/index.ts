/** The core without a framework: vocabulary, the client towards vendors, the server towards clients. Named exports only. */
export type {
  Advanced,
  Clock,
  EpochSeconds,
  Fetch,
  From,
  JsonObject,
  JsonValue,
  KeyContext,
  KeyWrapper,
  NewRecord,
  Patch,
  RecordKey,
  RecordStore,
  StoredRecord,
} from "./ports.ts";

export { defined } from "./mechanics/defined.ts";
export {
  errorMembers,
  errorText,
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorExtras,
  type OAuthErrorOptions,
  toOAuthError,
  withRestart,
} from "./protocol/errors.ts";
export {
  isReservedAuthorizationParameter,
  type Parameters,
  parseParameters,
  parseStringMap,
} from "./protocol/parameters.ts";
export { createExpiringMap, type ExpiringMap } from "./mechanics/expiring-map.ts";
export { isSameText } from "./protocol/mac.ts";
export {
  createCodeVerifier,
  deriveCodeChallenge,
  deriveCodeVerifier,
  parseCodeVerifier,
  requireS256Challenge,
  verifyCodeVerifier,
} from "./protocol/pkce.ts";
export {
  expandTemplate,
  fillsRegistrableDomain,
  placeholderNames,
  type PlaceholderSpec,
  type PlaceholderSpecs,
  requireKnownPlaceholders,
} from "./protocol/placeholders.ts";
export { isPublicSuffix } from "./protocol/public-suffix.ts";
export { randomToken } from "./protocol/random.ts";
export {
  redirectUrl,
  requireRegistrableRedirectUri,
  type VerifiedRedirect,
  verifyNativeRedirectUri,
  verifyRedirectUri,
} from "./protocol/redirect-uri.ts";
export { formatScope, isSubset, parseScope } from "./protocol/scope.ts";
export { Secret } from "./protocol/secret.ts";
export { createSharedCalls, type SharedCalls } from "./mechanics/shared-calls.ts";
export { createTurns, type Refusal, type Turn, type Turns, type TurnsOptions } from "./mechanics/turns.ts";
export { createStateCodec, type MacKeys, type StateClaims, type StateCodec } from "./protocol/state.ts";
export { parseJsonStrict } from "./protocol/strict-json.ts";

export {
  capabilitiesOf,
  type EndpointVerification,
  REGISTRY,
  type RegistryEntry,
  type VendorCapabilities,
  type VendorSetup,
  type Verification,
} from "./vendors/registry.ts";
export {
  DEFAULT_ID_TOKEN_ALGS,
  defineVendor,
  type PkceMethod,
  type ResolvedVendor,
  type TokenEndpointAuthMethod,
  type Vendor,
  type VendorCredentials,
  type VendorTokens,
} from "./vendors/vendor.ts";

export {
  type AssertionDeps,
  authenticateByHeader,
  authenticateClient,
  authorizationServerMetadata,
  BINDING_SECONDS,
  type BindingCookie,
  clearBindingCookie,
  type Client,
  type ClientRegistry,
  createBindingCookie,
  createFlowId,
  formToken,
  isFormToken,
  createHandle,
  createRequestUri,
  createResponseEncryption,
  type EncryptedResponse,
  findEncryptionKey,
  type Handle,
  hashOf,
  isFlowId,
  parseHandle,
  parseRequestUri,
  readBindingCookie,
  readPushedRequest,
  refuseWhatNoPushedRequestMayHold,
  RESPONSE_ENCRYPTION_ALGS,
  RESPONSE_ENCRYPTION_ENCS,
  type ResponseEncryption,
  type ResponseEncryptionAlg,
  setBindingCookie,
} from "./authorization-server/index.ts";

export {
  askedResource,
  askedScope,
  canIdentify,
  canValidateAccessToken,
  connectionContext,
  createVendorClient,
  mapCallbackError,
  parameterName,
  type RegistrationAnswer,
  requireIssuer,
  type AccessTokenValidation,
  VENDOR_OPERATION_SECONDS,
  type VendorClient,
} from "./vendor-client/index.ts";
export { createCidrMatcher } from "./egress/addresses.ts";
export { idTokenSubject, requireSameSubject } from "./vendor-client/id-token/verify.ts";
export { createSigningKeys } from "./vendor-client/id-token/jwks.ts";
export { usableKeys } from "./vendor-client/id-token/jwks.ts";
export { noRegistration } from "./vendor-client/registration/endpoint.ts";
export { registrableDomainOf } from "./egress/url.ts";
export { requireTokenHost, tokenHosts } from "./vendor-client/token/hosts.ts";
export { grantRevocation } from "./vendor-client/token/revoke.ts";
export {
  expandVendor,
  namesInHost,
  requireFit,
  templatesOf,
  withClientId,
  withDefaults,
} from "./vendor-client/templates.ts";
export { hasIdTokens } from "./vendor-client/token/response.ts";
export { relayedError } from "./vendor-client/authorization/error.ts";
