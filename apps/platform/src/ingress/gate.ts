/**
 * Who may pass to a deployed server: every path wants a bearer token, but those in `service.expose`. Whether the token is any good is
 * for the server to say; only where it wants no OAuth is the platform's own token judged here. Before it: app.ts. After it: forward.ts.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { OAuthError, type Secret } from "@oauth-broker/oauth-core";
import { type Answer, bearerChallenge, bearerToken, errorAnswer } from "@oauth-broker/oauth-core/http";
import type { Deployment } from "../connectors/connector.ts";
import { isExposed } from "../deploy/service-file/expose.ts";

/** A deployed server as the ingress knows it. */
export interface Upstream extends Pick<Deployment, "connectorId" | "mode" | "expose" | "target"> {
  /** DEPLOYMENT_URL: where the world reaches the server, without path and trailing slash. */
  readonly deploymentUrl: string;
  /** `ALLOWED_ORIGINS` of the server: pages of these may also read what the ingress itself answers. */
  readonly allowedOrigins: readonly string[];
  /** Of mode `none`. */
  readonly platformToken: Secret;
}

export interface IngressRequest {
  readonly method: string;
  /** As a URL parser gives it: no dot segments. */
  readonly path: string;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
}

const MCP = "/mcp";
const RESOURCE_METADATA = "/.well-known/oauth-protected-resource/mcp";

/** @returns the refusal, or nothing for a request that may pass */
export function refusalOf(
  { method, path, host, authorization }: IngressRequest,
  upstream: Upstream,
): Answer | undefined {
  // Host is rewritten on the way: a foreign one must end here, or the server's own check of it would be void.
  //= bar#RS-7
  if (host?.toLowerCase() !== new URL(upstream.deploymentUrl).host) return foreignHost();
  if (isExposed(path, upstream.expose)) return undefined;
  // A browser's preflight carries no token. Without a token check of its own, the server gets none.
  if (method === "OPTIONS" && path === MCP && upstream.mode !== "none") return undefined;
  const token = bearerToken(authorization);
  if (token === undefined) return challenge(upstream);
  if (upstream.mode !== "none" || isSame(token, upstream.platformToken.reveal())) return undefined;
  return bearerChallenge({ error: { code: "invalid_token", description: "This is not the platform's token" } });
}

/** Whether the server must not see what the caller brought: the platform's own token is nobody else's business. */
export const keepsAuthorization = ({ mode }: Upstream): boolean => mode !== "none";

function challenge({ deploymentUrl, expose }: Upstream): Answer {
  const isDescribed = isExposed(RESOURCE_METADATA, expose);
  return bearerChallenge(isDescribed ? { resourceMetadata: deploymentUrl + RESOURCE_METADATA } : {});
}

function foreignHost(): Answer {
  const options = { reason: "foreign_host", status: 403 } as const;
  return errorAnswer(new OAuthError("invalid_request", "No server here goes by that Host", options));
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
