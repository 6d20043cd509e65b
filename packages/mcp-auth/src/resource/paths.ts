/**
 * The paths below `DEPLOYMENT_URL`: every URL that leaves this server is built here, and the
 * resource that clients may name is compared here.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { HostedSettings, LinkPolicy } from "../settings.ts";

export const PATHS = {
  authorizationServer: "/.well-known/oauth-authorization-server",
  protectedResource: "/.well-known/oauth-protected-resource",
  authorize: "/authorize",
  token: "/token",
  register: "/register",
  revoke: "/revoke",
  /** The vendor redirects browsers here, with the server's own callback. */
  callback: "/callback",
  /** With several vendors: the pages of links, and the callbacks of all but the sign-in vendor. */
  connect: "/connect",
  connections: "/connections",
  vendors: "/vendors",
  mcp: "/mcp",
} as const;

/** The resource of RFC 8707 and 9728, and the audience of our tokens. */
export function resourceOf(deploymentUrl: string): string {
  return deploymentUrl + PATHS.mcp;
}

/**
 * The `resource` of a request at `/authorize` or `/token`. Absent means the only one.
 *
 * @throws OAuthError invalid_target for any other: scheme and host are compared in lower case, the
 *   rest byte for byte
 */
//= rfc8707#2
export function requireOwnResource(
  parameters: Parameters,
  { deploymentUrl }: Pick<HostedSettings, "deploymentUrl">,
): void {
  const resource = parameters.get("resource");
  //= bar#AS-16
  if (resource === undefined || inLowerCase(resource) === inLowerCase(resourceOf(deploymentUrl))) return;
  throw new OAuthError("invalid_target", "resource is not served here");
}

/** Scheme and host, which are the same in any case (rfc3986#6.2.2.1). */
function inLowerCase(uri: string): string {
  return uri.replace(/^[^/?#]*:\/\/[^/?#]*/, (origin) => origin.toLowerCase());
}

/** @param ticket its value, which only its user's browser can use */
export function connectUrl(deploymentUrl: string, ticket: string): string {
  return `${deploymentUrl}${PATHS.connect}/${ticket}`;
}

/** @param id as `VENDORS` lists it: the path of the sign-in vendor is that of `VENDOR` */
export function callbackPath(id: string, { signIn }: Pick<LinkPolicy, "signIn">): string {
  return id === signIn ? PATHS.callback : `${PATHS.vendors}/${id}/callback`;
}

/** The URL of the resource's metadata (RFC 9728 §3.1); the challenge on `/mcp` names it. */
export function resourceMetadataUrl(deploymentUrl: string): string {
  return deploymentUrl + PATHS.protectedResource + PATHS.mcp;
}
