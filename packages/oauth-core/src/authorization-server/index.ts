/**
 * What one of our clients may send, and how it is known: authentication, redirect URIs, pushed
 * requests, handles, the browser's cookie.
 */
export {
  type BindingCookie,
  clearBindingCookie,
  createBindingCookie,
  formatCookie,
  formToken,
  isFormToken,
  isOwnHost,
  readBindingCookie,
  endSurplusCookies,
  readCookie,
  setBindingCookie,
} from "./browser-binding.ts";
export type { AssertionDeps } from "./client-assertion.ts";
export { authenticateByHeader, authenticateClient } from "./client-authentication.ts";
export type { Client, ClientRegistry } from "./client.ts";
export {
  createResponseEncryption,
  type EncryptedResponse,
  findEncryptionKey,
  RESPONSE_ENCRYPTION_ALGS,
  RESPONSE_ENCRYPTION_ENCS,
  type ResponseEncryption,
  type ResponseEncryptionAlg,
} from "./encrypted-response.ts";
export { createFlowId, flowIdOfForm, hashOf, isFlowId } from "./handle.ts";
export { authorizationServerMetadata } from "./metadata.ts";
export { readPushedRequest, requireAllowedParameters } from "./pushed-request.ts";
export {
  checkRedirectUri,
  redirectUrl,
  requireRegistrableRedirectUri,
  type VerifiedRedirect,
  verifyNativeRedirectUri,
  verifyRedirectUri,
} from "./redirect-uri.ts";
