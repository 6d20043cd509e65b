/**
 * What a token opens at Atlassian: the person, and the MCP server.
 *
 * Seen: the MCP server's 401 with `resource_metadata` and `error="invalid_token"` (public probes,
 * 2026-07). Recalled: the shape of refusals; that a token is for the one site its consent was for.
 * Assumed: that tokens for the MCP server open `/me`, whose scope they can have.
 */
import { ACCOUNTS } from "../pages.ts";
import type { VendorHost } from "./base/host.ts";
import { json } from "./base/members.ts";
import type { RegisteredClient } from "./base/registration.ts";
import type { Grant } from "./base/tokens.ts";

export interface AtlassianSite {
  /** The cloud id. */
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

export interface AtlassianGrant extends Grant {
  readonly siteId: string;
  /** Seconds since 1970. */
  readonly since: number;
}

export const API_ERRORS: readonly string[] = ["401", "403", "429"];

export function serveAtlassianApi(
  { url, app, takeRefusal, access }: VendorHost<RegisteredClient>,
  settings: { readonly sites: readonly AtlassianSite[] },
  mcpServer: string,
): void {
  const { pathname } = new URL(mcpServer);
  const metadata = `${url}/.well-known/oauth-protected-resource${pathname}`;
  const challenge = { "WWW-Authenticate": `Bearer resource_metadata="${metadata}", error="invalid_token"` };
  const serve = (
    method: "GET" | "POST",
    path: string,
    answer: (grant: AtlassianGrant, call: { readonly id?: unknown }) => Response,
  ): void =>
    void app.on(method, path, async (c) => {
      const refused = takeRefusal("api");
      if (refused === "403") return refuse(403, "Forbidden");
      if (refused === "429") return refuse(429, "Rate limited", { "Retry-After": "5" });
      const grant = access(c)?.grant as AtlassianGrant | undefined;
      const headers = path === pathname ? challenge : {};
      if (grant === undefined || refused !== undefined) return refuse(401, "Unauthorized", headers);
      return answer(grant, (await c.req.json().catch(() => ({}))) as { readonly id?: unknown });
    });
  serve("GET", "/me", ({ user, scopes }) => {
    if (!scopes.includes("read:me")) return refuse(403, "Forbidden: the token lacks the scope read:me");
    const account = ACCOUNTS.find(({ id }) => id === user);
    return json({ account_id: user, email: account?.email, name: account?.name, account_status: "active" });
  });
  serve("POST", pathname, ({ siteId }, { id = null }) => {
    const sites = settings.sites.filter((site) => site.id === siteId);
    return json({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: JSON.stringify(sites) }] } });
  });
}

function refuse(code: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return json({ code, message }, code, headers);
}
