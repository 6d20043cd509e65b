/**
 * Atlassian's token endpoint, `POST /oauth/token`, in JSON or as a form.
 *
 * Seen: JSON body, 3600 s, offline_access for a refresh token, rotation, 90 days unused and 365 in
 * all, 403 `invalid_grant` "Unknown or invalid refresh token."
 * (developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens), 403 `unauthorized_client`
 * "refresh_token is invalid", 401 `access_denied` "Unauthorized" for wrong credentials, and
 * `invalid_target` "Incorrect resource parameters" (sooperset/mcp-atlassian #1137,
 * punkpeye/mcp-remote #261; 2026-03, -04).
 * Recalled: the texts for a bad code; 403 for it too. A short reuse interval is said to exist; it
 * is not simulated.
 */
import type { Context } from "hono";
import { isSecretOf, readCredentials } from "./base/clients.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { json, readMembers, type Members } from "./base/members.ts";
import { isVerifiedBy } from "./base/pkce.ts";
import {
  grantOf,
  kindOf,
  type AtlassianClient,
  type AtlassianGrant,
  type AtlassianParts,
} from "./atlassian-settings.ts";

const ACCESS_SECONDS = 3600;
const DAY_SECONDS = 24 * 3600;
export const IDLE_SECONDS = 90 * DAY_SECONDS;
export const WHOLE_LIFE_SECONDS = 365 * DAY_SECONDS;

/** By the name `refuseNext("token", …)` uses. */
const REFUSALS = {
  invalid_grant: { status: 403, text: "Unknown or invalid refresh token." },
  unauthorized_client: { status: 403, text: "refresh_token is invalid" },
  access_denied: { status: 401, text: "Unauthorized" },
  invalid_target: { status: 400, text: "Incorrect resource parameters" },
} as const;

export const ATLASSIAN_TOKEN_ERRORS: readonly string[] = Object.keys(REFUSALS);

export function serveAtlassianToken(parts: AtlassianParts): void {
  const { host, settings } = parts;
  host.app.post("/oauth/token", async (c) => {
    const refused = host.takeRefusal("token");
    if (refused !== undefined) return refuse(refused as keyof typeof REFUSALS);
    const members = await readMembers(c);
    const client = authenticate(parts, c, members);
    if (client === undefined) return refuse("access_denied");
    const grantType = members.get("grant_type");
    if (grantType === "authorization_code") return redeem(parts, client, members);
    if (grantType === "refresh_token") return refresh(parts, client, members);
    return json({ error: "unsupported_grant_type", error_description: "Unsupported grant type" }, 400);
  });
  host.app.post("/oauth/revoke", async (c) => {
    if (!settings.publishesRevocation) return c.notFound();
    const members = await readMembers(c);
    const client = authenticate(parts, c, members);
    if (client === undefined) return refuse("access_denied");
    const token = host.tokens.find(members.get("token"));
    if (token?.grant.clientId === client.clientId) host.tokens.endGrants(({ id }) => id === token.grant.id);
    return json({});
  });
}

/** A client is bound to the method it was registered with. */
function authenticate({ host }: AtlassianParts, c: Context<VendorEnv>, members: Members): AtlassianClient | undefined {
  const { method, clientId, clientSecret } = readCredentials(c, members);
  const client = host.clients.find(clientId);
  if (client === undefined || method !== (client.authMethod ?? "client_secret_post")) return undefined;
  return method === "none" || isSecretOf(client, clientSecret) ? client : undefined;
}

function redeem(parts: AtlassianParts, client: AtlassianClient, members: Members): Response {
  const { codes } = parts;
  const code = members.get("code") ?? "";
  const held = codes.find(code);
  if (held?.state !== "live" || held.bound.grant.clientId !== client.clientId) {
    return refuse("invalid_grant", "Invalid authorization code");
  }
  const { grant, redirectUri, challenge, resource } = held.bound;
  if (members.get("redirect_uri") !== redirectUri) return refuse("invalid_grant", "Invalid redirect_uri");
  if (!isVerifiedBy(challenge, members.get("code_verifier"))) {
    return refuse("invalid_grant", "Failed to verify code verifier");
  }
  if (!isResourceRight(client, resource, members.get("resource"))) return refuse("invalid_target");
  codes.spend(code);
  return issue(parts, grant);
}

/**
 * 3LO takes no `resource` at all; it is refused here although the authorization endpoint accepted
 * it.
 */
function isResourceRight(client: AtlassianClient, before: string | undefined, now: string | undefined): boolean {
  if (kindOf(client) === "3lo") return before === undefined && now === undefined;
  return now === undefined || now === before;
}

function refresh(parts: AtlassianParts, client: AtlassianClient, members: Members): Response {
  const token = parts.host.tokens.find(members.get("refresh_token"));
  if (token?.kind !== "refresh" || token.state !== "live" || token.grant.clientId !== client.clientId) {
    return refuse(parts.settings.deadRefreshAnswer);
  }
  if (kindOf(client) === "3lo" && members.get("resource") !== undefined) return refuse("invalid_target");
  parts.host.tokens.end(token.value, "rotated");
  return issue(parts, grantOf(token));
}

function issue({ host }: AtlassianParts, grant: AtlassianGrant): Response {
  const { tokens, now } = host;
  const lifetimeSeconds = Math.min(IDLE_SECONDS, grant.since + WHOLE_LIFE_SECONDS - now());
  const isOffline = grant.scopes.includes("offline_access");
  return json({
    access_token: tokens.issue("access", grant, { prefix: "eyJ", lifetimeSeconds: ACCESS_SECONDS }),
    expires_in: ACCESS_SECONDS,
    token_type: "Bearer",
    ...(isOffline ? { refresh_token: tokens.issue("refresh", grant, { prefix: "eyJ", lifetimeSeconds }) } : {}),
    scope: grant.scopes.join(" "),
  });
}

function refuse(error: keyof typeof REFUSALS, text: string = REFUSALS[error].text): Response {
  return json({ error, error_description: text }, REFUSALS[error].status);
}
