/**
 * Decides whether a request may pass to a deployed server. Every path requires a bearer token,
 * except those in `service.expose`. The server validates the token; only for a server without OAuth
 * is the platform's own token checked here. Before it: routes/ingress.ts. After it: forward.ts.
 */
import { OAuthError, type Secret } from "@oauth-broker/oauth-core";
import { type Answer, bearerChallenge, bearerToken, errorAnswer } from "@oauth-broker/oauth-core/http";
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import { isHostOf } from "@oauth-broker/service/http";
import type { Deployment } from "../connectors/connector.ts";
import { isExposed } from "../deploy/service-file/expose.ts";

/** A deployed server as the ingress knows it. */
export interface Upstream extends Pick<Deployment, "connectorId" | "mode" | "expose" | "target"> {
  /** DEPLOYMENT_URL: the public address of the server, without path and trailing slash. */
  readonly deploymentUrl: string;
  /**
   * `ALLOWED_ORIGINS` of the server: pages of these origins may also read the ingress's own
   * answers.
   */
  readonly allowedOrigins: readonly string[];
  /** Compared only for a server in mode `none`. */
  readonly platformToken: Secret;
}

export interface IngressRequest {
  readonly method: string;
  /** As a URL parser returns it: without dot segments. */
  readonly path: string;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
}

const FOREIGN = { reason: "foreign_host", status: 403 } as const;
const MCP = "/mcp";
const RESOURCE_METADATA = "/.well-known/oauth-protected-resource/mcp";

/** @returns the refusal, or undefined for a request that may pass */
export function refusalOf(
  { method, path, host, authorization }: IngressRequest,
  upstream: Upstream,
): Answer | undefined {
  //= bar#RS-7
  if (!isForUpstream(host, upstream))
    return errorAnswer(new OAuthError("invalid_request", "No server has this Host", FOREIGN));
  if (isExposed(path, upstream.expose)) return undefined;
  // A browser's preflight carries no token. A server without its own token check does not receive
  // it.
  if (method === "OPTIONS" && path === MCP && upstream.mode !== "none") return undefined;
  const token = bearerToken(authorization);
  //= bar#RS-1
  if (token === undefined) return challenge(upstream);
  //= bar#RS-1
  if (upstream.mode !== "none" || isSameText(token, upstream.platformToken.reveal())) return undefined;
  return bearerChallenge({ error: { code: "invalid_token", description: "The token is not the platform's token" } });
}

/**
 * Whether the caller's Authorization header must be removed: the platform's own token must not
 * reach the server.
 */
export const keepsAuthorization = ({ mode }: Upstream): boolean => mode !== "none";

/**
 * Host is rewritten on the way, so a foreign one must be refused here: the server's own check could
 * not see it.
 */
export function isForUpstream(host: string | undefined, { deploymentUrl }: Pick<Upstream, "deploymentUrl">): boolean {
  return isHostOf(new URL(deploymentUrl), host);
}

function challenge({ deploymentUrl, expose }: Upstream): Answer {
  const isDescribed = isExposed(RESOURCE_METADATA, expose);
  return bearerChallenge(isDescribed ? { resourceMetadata: deploymentUrl + RESOURCE_METADATA } : {});
}
