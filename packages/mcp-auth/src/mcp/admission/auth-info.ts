/**
 * The caller of a request to `/mcp`, handed through the SDK to the tool that runs for it: written
 * once the bearer token is checked (bearer.ts), read by the checks and the calls of tools.
 */
import { defined } from "@oauth-broker/oauth-core";
import { bearerToken } from "@oauth-broker/oauth-core/http";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import type { McpRequest } from "../elicitation/call.ts";
import type { BearerDeps } from "./bearer.ts";

/** The token itself is left out: no tool and no library after this line needs it. */
//= bar#RS-2
export function toAuthInfo(
  request: McpRequest,
  everyScope: readonly string[],
  { resourceMetadata }: Pick<BearerDeps, "resourceMetadata">,
): AuthInfo {
  const { clientId = "", scope = everyScope, expiresAt } = request.caller;
  return {
    token: "",
    clientId,
    scopes: [...scope],
    expiresAt,
    ...defined({ resourceMetadataUrl: resourceMetadata }),
    extra: { ...request },
  };
}

/** As `toAuthInfo` has put it there. */
export function requestOf(authInfo: AuthInfo | undefined): McpRequest {
  const request = authInfo?.extra as McpRequest | undefined;
  if (request?.caller === undefined) throw new TypeError("a tool was called without a caller");
  return request;
}

/** Whose the calls of a request are: of its token and `Mcp-Session-Id`, hashed. */
export function callOrigin(c: Context): string {
  return hashOf(JSON.stringify([bearerToken(c.req.header("authorization")), c.req.header("mcp-session-id")]));
}
