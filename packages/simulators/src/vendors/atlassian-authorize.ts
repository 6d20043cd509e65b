/**
 * Atlassian's authorization endpoint, `GET /authorize`: one for 3LO apps of the console and for
 * clients of the MCP server. Mistakes end on a page of Atlassian's; only the person's own no comes
 * back to the app.
 *
 * Seen: audience, prompt and scopes of 3LO (2026-11), one consent per site;
 * for the MCP server S256, and "Invalid context provided" without `resource`
 * (anthropics/claude-code #69035, 2026-06); "failed to retrieve client" (BerriAI/litellm #42678,
 * 2026-09); "Incorrect request parameters" after Accept if an admin allows no such redirect.
 * Recalled: the other texts, the description of access_denied, that 3LO insists on prompt=consent.
 */
import type { Context } from "hono";
import { html } from "hono/html";
import type { ConsentOutcome, VendorUser } from "./base/consent.ts";
import { callbackUrl } from "./base/host.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { queryMembers, type Members } from "./base/members.ts";
import { problemPage } from "./base/pages.ts";
import { newGrant } from "./base/tokens.ts";
import { ATLASSIAN_MCP_SCOPES } from "./atlassian-registration.ts";
import { kindOf, type AtlassianClient, type AtlassianParts } from "./atlassian-settings.ts";

export const ATLASSIAN_AUTHORIZATION_ERRORS: readonly string[] = ["access_denied"];

interface AuthorizationRequest {
  readonly client: AtlassianClient;
  readonly redirectUri: string;
  readonly query: Members;
  readonly scopes: readonly string[];
}

export function serveAtlassianAuthorize(parts: AtlassianParts): void {
  const { host, settings } = parts;
  host.app.get("/authorize", async (c) => {
    const refused = host.takeRefusal("authorization");
    const request = await readRequest(parts, c);
    if (request instanceof Response) return request;
    const { client, redirectUri, query, scopes } = request;
    const back = (answer: Readonly<Record<string, string>>) =>
      callbackUrl(redirectUri, { state: query.get("state"), ...answer });
    const denied = { error: "access_denied", error_description: "User did not authorize the request" };
    if (refused !== undefined) return c.redirect(back(denied), 302);
    return host.consent.ask(c, {
      app: client.name ?? client.clientId,
      permissions: scopes.map((scope) => ({ scope, text: scopeText(scope) })),
      questions: () => siteChoice(parts),
      onAllow(user, form) {
        if (settings.userInstalledAppsBlocked) return ends("Your site admin must authorize this app first.");
        if (settings.blockedRedirectUris.includes(redirectUri)) {
          return ends("Incorrect request parameters", "invalid_request");
        }
        return { redirect: back({ code: issueCode(parts, request, user, form.get("site")) }) };
      },
      onCancel: () => ({ redirect: back(denied) }),
    });
  });
}

async function readRequest({ host, settings, mcpServer }: AtlassianParts, c: Context<VendorEnv>) {
  const query = queryMembers(c);
  const refuse = (text: string, code = "invalid_request") => host.consent.refuse(c, text, code);
  const client = host.clients.find(query.get("client_id"));
  if (client === undefined) return refuse("failed to retrieve client");
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!client.redirectUris.includes(redirectUri)) return refuse("redirect_uri is not registered for this client");
  if (query.get("response_type") !== "code") return refuse("response_type must be code", "unsupported_response_type");
  const isS256 = query.get("code_challenge_method") === "S256" && query.get("code_challenge") !== undefined;
  const scopes = [...new Set((query.get("scope") ?? "").split(" ").filter((scope) => scope !== ""))];
  const request: AuthorizationRequest = { client, redirectUri, query, scopes };

  if (kindOf(client) === "mcp") {
    if (!isS256) return refuse("This app needs enhanced security: code_challenge with S256");
    const resource = query.get("resource");
    if (resource === undefined ? settings.resourceRequired : resource !== mcpServer) {
      return refuse("Invalid context provided. Please try authorizing again.", "invalid_context");
    }
    return scopes.length > 0 ? request : { ...request, scopes: ATLASSIAN_MCP_SCOPES };
  }
  if (query.get("audience") !== "api.atlassian.com") return refuse("audience must be api.atlassian.com");
  if (query.get("prompt") !== "consent") return refuse("prompt must be consent");
  if (query.get("code_challenge") !== undefined && !isS256) return refuse("code_challenge_method must be S256");
  const isAdded = (scope: string) => scope === "offline_access" || client.scopes?.includes(scope) !== false;
  if (scopes.length === 0 || !scopes.every(isAdded)) {
    return refuse("This app has requested scopes that have not been added to the app.", "invalid_scope");
  }
  return request;
}

/** @param asked a cloud id from the consent form; absent when the user did not choose */
function issueCode(
  { host, settings, codes }: AtlassianParts,
  { client, redirectUri, query, scopes }: AuthorizationRequest,
  user: VendorUser,
  asked: string | null,
): string {
  const site = settings.sites.find(({ id }) => id === (asked ?? settings.chosenSite)) ?? settings.sites[0];
  const grant = newGrant({ user: user.id, clientId: client.clientId, scopes });
  const challenge = query.get("code_challenge");
  return codes.issue({
    grant: { ...grant, siteId: site?.id ?? "", audience: kindOf(client), since: host.now() },
    redirectUri,
    challenge: challenge === undefined ? undefined : { challenge, method: "S256" },
    resource: query.get("resource"),
  });
}

function siteChoice({ settings: { sites, chosenSite } }: AtlassianParts) {
  return html`<p>
    <label
      >Use app on
      <select name="site">
        ${sites.map(
          ({ id, name }) => html`<option value="${id}" ${id === chosenSite ? "selected" : ""}>${name}</option>`,
        )}
      </select></label
    >
  </p>`;
}

function scopeText(scope: string): string {
  if (scope === "offline_access") return "Stay connected while you are away";
  const [verb = "", ...rest] = scope.split(":");
  const what = rest.toReversed().join(" ").replaceAll("-", " ");
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${what}`.trim();
}

function ends(text: string, code?: string): ConsentOutcome {
  const title = "Something went wrong";
  return { title, page: problemPage(title, text, code), status: 400 };
}
