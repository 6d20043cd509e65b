/**
 * Where an MCP client learns of Atlassian's authorization server, and registers there without being
 * asked who it is.
 *
 * Seen: the issuer's path, the insertion form of its metadata URL, S256 alone, open registration
 * that answers 201 (2026-07-19; also public notes of 2026-09-08). The document
 * left out the issuer's path in 2026-07 (atlassian/atlassian-mcp-server #205), is at the suffix
 * form too, published `/oauth/revoke` in 2026-09, and a secret came back for `none`
 * (agentic-community/mcp-gateway-registry #1519): each is a setting.
 * Recalled: the refusals of registration, which follow RFC 7591.
 * Left out: private_key_jwt and client ID metadata documents.
 */
import { randomBytes } from "node:crypto";
import { json, mediaType } from "./base/members.ts";
import type { AtlassianAuthMethod, AtlassianParts } from "./atlassian-settings.ts";

const AUTH_METHODS: readonly AtlassianAuthMethod[] = ["none", "client_secret_post", "client_secret_basic"];
const GRANT_TYPES: readonly string[] = ["authorization_code", "refresh_token"];

export const ATLASSIAN_MCP_SCOPES: readonly string[] = [
  "offline_access",
  "read:me",
  "read:jira-work",
  "write:jira-work",
  "read:page:confluence",
  "write:page:confluence",
  "search:confluence",
];

export function serveAtlassianRegistration(parts: AtlassianParts): void {
  const { host, settings, resourceId, mcpServer } = parts;
  const issuer = `${host.url}/${resourceId}`;
  const document = () =>
    json({
      issuer: settings.metadataIssuer === "path" ? issuer : host.url,
      authorization_endpoint: `${host.url}/authorize`,
      token_endpoint: `${host.url}/oauth/token`,
      registration_endpoint: `${issuer}/dcr/register`,
      ...(settings.publishesRevocation ? { revocation_endpoint: `${host.url}/oauth/revoke` } : {}),
      response_types_supported: ["code"],
      grant_types_supported: GRANT_TYPES,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: AUTH_METHODS,
    });
  host.app.get(`/.well-known/oauth-authorization-server/${resourceId}`, document);
  host.app.get(`/${resourceId}/.well-known/oauth-authorization-server`, (c) =>
    settings.metadataAt === "insertion" ? c.notFound() : document(),
  );
  host.app.get(`/.well-known/oauth-protected-resource${new URL(mcpServer).pathname}`, () =>
    json({ resource: mcpServer, authorization_servers: [issuer], scopes_supported: ATLASSIAN_MCP_SCOPES }),
  );
  host.app.post(`/${resourceId}/dcr/register`, async (c) => {
    const isJson = mediaType(c.req.header("Content-Type")) === "application/json";
    return register(parts, isJson ? await c.req.json().catch(() => undefined) : undefined);
  });
}

function register({ host, settings }: AtlassianParts, metadata: unknown): Response {
  if (typeof metadata !== "object" || metadata === null) return refuse("invalid_client_metadata", "Not a JSON object");
  const asked = metadata as Readonly<Record<string, unknown>>;
  const redirectUris = asked["redirect_uris"];
  if (!Array.isArray(redirectUris) || redirectUris.length === 0 || !redirectUris.every(isRedirectUri)) {
    return refuse("invalid_redirect_uri", "redirect_uris must be https, or http on this machine");
  }
  const method = AUTH_METHODS.find((one) => one === (asked["token_endpoint_auth_method"] ?? "client_secret_post"));
  const grantTypes = asked["grant_types"] ?? GRANT_TYPES;
  if (method === undefined) return refuse("invalid_client_metadata", "token_endpoint_auth_method is not supported");
  if (!Array.isArray(grantTypes) || !grantTypes.every((one) => GRANT_TYPES.includes(String(one)))) {
    return refuse("invalid_client_metadata", "grant_types are not supported");
  }
  const isSecret = method !== "none" || settings.secretForPublicClients;
  const clientSecret = isSecret ? `ATOA${randomBytes(30).toString("base64url")}` : undefined;
  const clientId = randomBytes(24).toString("base64url");
  const name = typeof asked["client_name"] === "string" ? asked["client_name"] : clientId;
  host.clients.add({
    kind: "mcp",
    clientId,
    redirectUris: redirectUris as readonly string[],
    name,
    authMethod: isSecret && method === "none" ? "client_secret_post" : method,
    ...(clientSecret === undefined ? {} : { clientSecret }),
  });
  const answer = {
    client_id: clientId,
    client_id_issued_at: host.now(),
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret, client_secret_expires_at: 0 }),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    response_types: ["code"],
    token_endpoint_auth_method: method,
  };
  return json(answer, 201);
}

function isRedirectUri(value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, hostname, hash } = new URL(value);
  const isHere = protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  return hash === "" && (protocol === "https:" || isHere);
}

function refuse(error: string, text: string): Response {
  return json({ error, error_description: text }, 400);
}
