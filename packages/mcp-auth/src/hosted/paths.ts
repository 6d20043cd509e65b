/** Where things are below `DEPLOYMENT_URL`; every URL we tell anybody is made here. */

export const PATHS = {
  authorizationServer: "/.well-known/oauth-authorization-server",
  protectedResource: "/.well-known/oauth-protected-resource",
  authorize: "/authorize",
  token: "/token",
  register: "/register",
  revoke: "/revoke",
  /** Where the vendor sends browsers back to, with the server's own callback. */
  callback: "/callback",
  mcp: "/mcp",
} as const;

/** The resource of RFC 8707 and 9728, and the audience of our tokens. */
export function resourceOf(deploymentUrl: string): string {
  return deploymentUrl + PATHS.mcp;
}

/** Where the resource describes itself (RFC 9728 §3.1); the challenge on `/mcp` names it. */
export function resourceMetadataUrl(deploymentUrl: string): string {
  return deploymentUrl + PATHS.protectedResource + PATHS.mcp;
}
