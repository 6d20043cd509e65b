/**
 * The caller of a request to `/mcp`, handed through the SDK to the tool that runs for it: written
 * once the bearer token is checked (bearer.ts), read by the checks and the calls of tools.
 */
import { defined } from "@oauth-broker/oauth-core";
import { bearerToken } from "@oauth-broker/oauth-core/http";
import { hashOf } from "@oauth-broker/oauth-core/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import type { Caller } from "../../mode.ts";
import type { BearerDeps } from "./bearer.ts";

/** The token itself is left out: no tool and no library after this line needs it. */
//= bar#RS-2
export function toAuthInfo(
  caller: Caller,
  from: string,
  everyScope: readonly string[],
  { resourceMetadata }: Pick<BearerDeps, "resourceMetadata">,
): AuthInfo {
  return {
    token: "",
    clientId: caller.clientId ?? "",
    scopes: [...(caller.scope ?? everyScope)],
    expiresAt: caller.expiresAt,
    ...defined({ resourceMetadataUrl: resourceMetadata }),
    extra: { caller, from },
  };
}

/** As `toAuthInfo` has put it there. */
export function callerOf(authInfo: AuthInfo | undefined): Caller {
  const caller = authInfo?.extra?.["caller"];
  if (caller === undefined) throw new TypeError("a tool was called without a caller");
  return caller as Caller;
}

/** Whose a call is, for one that cancels it. */
export function callOrigin(c: Context): string {
  return hashOf(JSON.stringify([bearerToken(c.req.header("authorization")), c.req.header("mcp-session-id")]));
}

/** As `toAuthInfo` has put it there. */
export function originOf(authInfo: AuthInfo | undefined): string {
  const from = authInfo?.extra?.["from"];
  return typeof from === "string" ? from : "";
}
