export { authenticateClient, CLIENT_AUTHENTICATION_METHODS, type ClientAuthenticationDeps } from "./client-authentication.ts";
export { ASSERTION_ALGS, type AssertionDeps, JWT_BEARER_ASSERTION, verifyClientAssertion } from "./client-assertion.ts";
export type { Client, ClientRegistry } from "./client.ts";
export { createFlowId, createHandle, type Handle, hashOf, isFlowId, parseHandle } from "./handle.ts";
export { type AuthorizationServerEndpoints, authorizationServerMetadata } from "./metadata.ts";
export { createRequestUri, parseRequestUri, type PushedRequest, readPushedRequest } from "./pushed-request.ts";
