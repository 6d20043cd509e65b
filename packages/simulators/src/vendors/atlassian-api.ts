/**
 * What a token opens at Atlassian: its list of sites, one site's API, the person, and the MCP
 * server.
 *
 * Seen: the list and the base of an API by cloud id (the list itself recalled), the MCP server's
 * 401 with `resource_metadata` and `error="invalid_token"`, and that it refuses tokens of 3LO
 * (public probes, 2026-07). Recalled: the shape of the list and of refusals; that a token lists
 * only the site its consent was for. Assumed: that tokens for the MCP server open `/me`, whose
 * scope they can have.
 */
import type { Context } from "hono";
import { ACCOUNTS } from "../vendor-pages.ts";
import { bearerToken } from "./base/clients.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { json } from "./base/members.ts";
import { grantOf, type AtlassianGrant, type AtlassianParts, type AtlassianSite } from "./atlassian-settings.ts";

export const ATLASSIAN_API_ERRORS: readonly string[] = ["401", "403", "429"];

export function serveAtlassianApi(parts: AtlassianParts): void {
  const { host, settings, mcpServer } = parts;
  host.app.get("/oauth/token/accessible-resources", (c) =>
    withToken(parts, c, "3lo", (grant) => json(sitesOf(parts, grant).map((site) => resourceOf(site, grant)))),
  );
  host.app.get("/me", (c) =>
    withToken(parts, c, "any", (grant) => {
      if (!grant.scopes.includes("read:me")) return refuse(403, "Forbidden: the token lacks the scope read:me");
      const account = ACCOUNTS.find(({ id }) => id === grant.user);
      return json({ account_id: grant.user, email: account?.email, name: account?.name, account_status: "active" });
    }),
  );
  host.app.get("/ex/jira/:cloudId/rest/api/3/myself", (c) =>
    withToken(parts, c, "3lo", (grant) => {
      if (grant.siteId === c.req.param("cloudId")) return json({ accountId: grant.user });
      const isSite = settings.sites.some(({ id }) => id === c.req.param("cloudId"));
      return isSite ? refuse(403, "The app is not installed on this instance") : refuse(404, "No such site");
    }),
  );
  host.app.post(new URL(mcpServer).pathname, (c) =>
    withToken(parts, c, "mcp", async (grant) => {
      const call = (await c.req.json().catch(() => ({}))) as { readonly id?: unknown };
      const sites = sitesOf(parts, grant).map((site) => resourceOf(site, grant));
      const content = [{ type: "text", text: JSON.stringify(sites) }];
      return json({ jsonrpc: "2.0", id: call.id ?? null, result: { content } });
    }),
  );
}

function withToken(
  { host, mcpServer }: AtlassianParts,
  c: Context<VendorEnv>,
  audience: AtlassianGrant["audience"] | "any",
  work: (grant: AtlassianGrant) => Response | Promise<Response>,
): Response | Promise<Response> {
  const refused = host.takeRefusal("api");
  if (refused === "403") return refuse(403, "Forbidden");
  if (refused === "429") return refuse(429, "Rate limited", { "Retry-After": "5" });
  const token = host.tokens.find(bearerToken(c));
  const isLive = token?.kind === "access" && token.state === "live";
  const isGood = isLive && (audience === "any" || grantOf(token).audience === audience);
  if (isGood && refused === undefined) return work(grantOf(token));
  const metadata = `${host.url}/.well-known/oauth-protected-resource${new URL(mcpServer).pathname}`;
  const challenge = `Bearer resource_metadata="${metadata}", error="invalid_token"`;
  return refuse(401, "Unauthorized", audience === "mcp" ? { "WWW-Authenticate": challenge } : {});
}

function sitesOf({ settings }: AtlassianParts, grant: AtlassianGrant): readonly AtlassianSite[] {
  return settings.sites.filter(({ id }) => id === grant.siteId);
}

function resourceOf(site: AtlassianSite, grant: AtlassianGrant): object {
  return { ...site, scopes: grant.scopes.filter((scope) => scope !== "offline_access"), avatarUrl: `${site.url}/icon` };
}

function refuse(code: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return json({ code, message }, code, headers);
}
