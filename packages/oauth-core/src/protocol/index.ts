/** The vocabulary of the RFCs as pure functions. Errors and secrets are at the package's root. */
export {
  isReservedAuthorizationParameter,
  type ParameterNames,
  type Parameters,
  parseParameters,
  parseStringMap,
} from "./parameters.ts";
export { errorMembers } from "./errors.ts";
export {
  createCodeVerifier,
  deriveCodeChallenge,
  parseCodeVerifier,
  requireS256Challenge,
  verifyCodeVerifier,
} from "./pkce.ts";
export {
  expandTemplate,
  fillsRegistrableDomain,
  isListed,
  placeholderNames,
  type PlaceholderSpec,
  type PlaceholderSpecs,
  requireKnownPlaceholders,
} from "./placeholders.ts";
export { isPublicSuffix } from "./public-suffix.ts";
export { isSameText, randomToken, SECRET_MEMBERS } from "./secret.ts";
export { formatScope, isScopeToken, isSubset, namedScopes, parseScope } from "./scope.ts";
export { createStateCodec, type MacKeys, type StateClaims, type StateCodec } from "./state.ts";
