/**
 * The Agent 365 MCP servers, `POST /mcp/environments/{environment_id}/servers/{server_name}`.
 *
 * Seen 2026-11: the URL, the server names, -32006 CONSENT_REQUIRED. Asked for
 * by its Simulate line: 404 for a wrong environment, 403 for a tenant outside the preview.
 * Recalled: the bodies, `authorization_uri`, the claims challenge (`insufficient_claims`) when MFA
 * is now wanted.
 */
import { json } from "./base/members.ts";
import { MFA_CLAIMS } from "./microsoft-errors.ts";
import { AGENT_365_TOOLS, resourceScopes } from "./microsoft-scopes.ts";
import type { Microsoft, MicrosoftGrant } from "./microsoft-settings.ts";

/** By server: the scope it requires; the others accept any. */
const SERVERS: Readonly<Record<string, string | undefined>> = {
  MCPManagement: "Management",
  mcp_MailTools: "Mail",
  mcp_CalendarTools: "Calendar",
  mcp_TeamsServer: "Teams",
  mcp_WordServer: "Word",
  mcp_ODSPRemoteServer: "OneDriveSharepoint",
  mcp_SharePointListsTools: "SharepointLists",
  mcp_MeServer: "Me",
  mcp_M365Copilot: "CopilotMCP",
  msdyn_ServiceMCPServer: undefined,
  msdyn_ERPAnalyticsMCPServer: undefined,
};

export const API_ERRORS: readonly string[] = ["401", "403", "404", "-32006"];

export function serveMicrosoftMcp({ host, settings }: Microsoft): void {
  const authority = `Bearer authorization_uri="${host.url}/organizations/oauth2/v2.0/authorize"`;
  const unauthorized = (more = "") => refuse(401, "Unauthorized", { "WWW-Authenticate": authority + more });
  host.app.post("/mcp/environments/:environment/servers/:server", async (c) => {
    const refused = host.takeRefusal("api");
    const grant = host.access(c)?.grant as MicrosoftGrant | undefined;
    if (refused === "401" || grant === undefined) return unauthorized();
    if (settings.mfaRequired && !grant.mfa) {
      const claims = Buffer.from(MFA_CLAIMS).toString("base64");
      return unauthorized(`, error="insufficient_claims", claims="${claims}"`);
    }
    const tenant = settings.tenants.find(({ id }) => id === grant.tenantId);
    const { environment, server } = c.req.param();
    const isThere = tenant?.environments.includes(environment) === true && Object.hasOwn(SERVERS, server);
    if (!isThere || refused === "404") return refuse(404, "EnvironmentNotFound");
    if (!tenant.inPreview || refused === "403") return refuse(403, "The tenant is not enabled for this preview");
    const call = (await c.req.json().catch(() => ({}))) as { readonly id?: unknown };
    const name = SERVERS[server];
    const isScoped =
      name === undefined || resourceScopes(grant.scopes).includes(`${AGENT_365_TOOLS}/McpServers.${name}.All`);
    const rpc = { jsonrpc: "2.0", id: call.id ?? null };
    if (isScoped && refused === undefined) return json({ ...rpc, result: { content: [{ type: "text", text: "[]" }] } });
    const message = `CONSENT_REQUIRED: ${host.url}/${grant.tenantId}/adminconsent?client_id=${grant.clientId}`;
    return json({ ...rpc, error: { code: -32_006, message } });
  });
}

function refuse(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return json({ error: { code: String(status), message } }, status, headers);
}
