/**
 * A practice Atlassian on one loopback origin: the authorization server of its MCP server, the
 * broker's `atlassian`. Mistakes at the authorization endpoint end on a page of Atlassian's; only the
 * person's own no comes back to the app. What a token opens is in atlassian-api.ts.
 *
 * As the vendor was seen to answer in 2026-11.
 * Seen: one consent per site; S256, and "Invalid context provided" without `resource`
 * (anthropics/claude-code #69035, 2026-06); "failed to retrieve client" (BerriAI/litellm #42678,
 * 2026-09); "Incorrect request parameters" after Accept if an admin allows no such redirect.
 * Seen: JSON body, 3600 s, offline_access for a refresh token, rotation, 90 days unused and 365 in
 * all, 403 `invalid_grant` "Unknown or invalid refresh token."
 * (developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens), 403 `unauthorized_client`
 * "refresh_token is invalid", 401 `access_denied` "Unauthorized" for wrong credentials, and
 * `invalid_target` "Incorrect resource parameters" (sooperset/mcp-atlassian #1137,
 * punkpeye/mcp-remote #261; 2026-03, -04).
 * Seen: the issuer's path, the insertion form of its metadata URL, S256 alone, open registration
 * that answers 201 (2026-07-19; also public notes of 2026-09-08). It
 * published `/oauth/revoke` in 2026-09, which is a setting.
 * Recalled: the other texts, the description of access_denied; the texts for a bad code, and 403 for
 * it too; the refusals of registration, which follow RFC 7591.
 * Left out: that the document left out the issuer's path in 2026-07 (atlassian/atlassian-mcp-server
 * #205), is at the suffix form too, and that a secret came back for `none`
 * (agentic-community/mcp-gateway-registry #1519); a short reuse interval, which is said to exist; private_key_jwt and client ID metadata
 * documents.
 *
 * Left out: apps for the REST APIs (3LO) on the same host, whose facts are the entry `atlassian-api`
 * of the catalogue. Of them, beside the entry:
 * Seen: audience, prompt and scopes; the base of an API by cloud id, `/ex/jira/CLOUD_ID`; that the MCP
 * server refuses their tokens (public probes, 2026-07); that they take no `resource`
 * (sooperset/mcp-atlassian #1137).
 * Recalled: that prompt=consent is required, and S256 if there is a challenge; the list of a token's
 * sites at `/oauth/token/accessible-resources`, with id, name, url, scopes and avatarUrl, which has
 * only the site that the consent was for; 403 at the API of another site.
 */
import type { Context } from "hono";
import { html } from "hono/html";
import { authenticate } from "./base/clients.ts";
import { challengeOf, createCodes, type Bound, type CodeMistake, type Codes } from "./base/codes.ts";
import type { ConsentOutcome } from "./base/consent.ts";
import { startVendorHost, wayBack, type VendorHost } from "./base/host.ts";
import { json, queryMembers, type Members } from "./base/members.ts";
import { noticePage } from "../pages.ts";
import { AUTH_METHODS, GRANT_TYPES, serveRegistration, type RegisteredClient } from "./base/registration.ts";
import type { SimulatorOptions, VendorEnv } from "./base/simulator.ts";
import { newGrant } from "./base/tokens.ts";
import { API_ERRORS, serveAtlassianApi, type AtlassianGrant, type AtlassianSite } from "./atlassian-api.ts";

/** Read at every request; set at the start or while it runs. */
type AtlassianSettings = typeof DEFAULTS;

const DEFAULTS = {
  sites: [
    { id: "11111111-1111-4111-8111-111111111111", name: "first", url: "https://first.example" },
    { id: "22222222-2222-4222-8222-222222222222", name: "second", url: "https://second.example" },
  ] as readonly AtlassianSite[],
  /** Cloud id used when the user does not choose a site; default the first site. */
  chosenSite: undefined as string | undefined,
  /** A dead refresh token answers 403 with one of these. */
  deadRefreshAnswer: "invalid_grant" as "invalid_grant" | "unauthorized_client",
  /** Whether the MCP server's clients must name it as `resource`. */
  resourceRequired: true,
  /** Whether the metadata has a `revocation_endpoint`, as since 2026-09, and it works. */
  publishesRevocation: true,
  /** The site's admin has blocked apps that users install. */
  userInstalledAppsBlocked: false,
  /** The organization's admin allows no redirects there: after Accept the user ends on a page. */
  blockedRedirectUris: [] as readonly string[],
};

export type AtlassianSimulator = Awaited<ReturnType<typeof startAtlassian>>;

interface AtlassianBound extends Bound {
  readonly grant: AtlassianGrant;
  /** As the authorization request named it. */
  readonly resource: string | undefined;
}

interface Atlassian {
  readonly host: VendorHost<RegisteredClient>;
  readonly settings: AtlassianSettings;
  readonly codes: Codes<AtlassianBound>;
  /** The MCP server's URL, which is also its `resource`. */
  readonly mcpServer: string;
}

const ACCESS_SECONDS = 3600;
const DAY_SECONDS = 24 * 3600;
const IDLE_SECONDS = 90 * DAY_SECONDS;
const WHOLE_LIFE_SECONDS = 365 * DAY_SECONDS;
/** The fixed id in the issuer's path, the same for everyone. */
const RESOURCE_ID = "SimulatedResource0123456789abcde";

const MCP_SCOPES: readonly string[] = [
  "offline_access",
  "read:me",
  "read:jira-work",
  "write:jira-work",
  "read:page:confluence",
  "write:page:confluence",
  "search:confluence",
];

/** By the name `refuseNext("token", …)` uses. */
const REFUSALS: Readonly<Record<string, readonly [status: number, text: string]>> = {
  invalid_grant: [403, "Unknown or invalid refresh token."],
  unauthorized_client: [403, "refresh_token is invalid"],
  access_denied: [401, "Unauthorized"],
  invalid_target: [400, "Incorrect resource parameters"],
};

const CODE_TEXT: Readonly<Record<CodeMistake, string>> = {
  unknown: "Invalid authorization code",
  spent: "Invalid authorization code",
  expired: "Invalid authorization code",
  redirect_uri: "Invalid redirect_uri",
  verifier: "Failed to verify code verifier",
};

/** @throws Error of node:net when the port is taken */
export async function startAtlassian(options: SimulatorOptions & Partial<AtlassianSettings> = {}) {
  const { now: _now, port: _port, ...given } = options;
  const settings: AtlassianSettings = { ...DEFAULTS, ...given };
  const host = await startVendorHost<RegisteredClient>({ id: "atlassian", brand: "Atlassian" }, options);
  const { app, url, tokens } = host;
  const mcpServer = `${url}/v1/mcp/authv2`;
  const atlassian: Atlassian = { host, settings, codes: createCodes(host), mcpServer };
  const issuer = `${url}/${RESOURCE_ID}`;
  const endpoints = () => ({
    issuer,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/oauth/token`,
    registration_endpoint: `${issuer}/dcr/register`,
    ...(settings.publishesRevocation ? { revocation_endpoint: `${url}/oauth/revoke` } : {}),
  });
  app.get(`/.well-known/oauth-authorization-server/${RESOURCE_ID}`, () =>
    json({
      ...endpoints(),
      response_types_supported: ["code"],
      grant_types_supported: GRANT_TYPES,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: AUTH_METHODS,
    }),
  );
  app.get(`/.well-known/oauth-protected-resource${new URL(mcpServer).pathname}`, () =>
    json({ resource: mcpServer, authorization_servers: [issuer], scopes_supported: MCP_SCOPES }),
  );
  serveRegistration(host, `/${RESOURCE_ID}/dcr/register`, {
    method: "client_secret_post",
    grantTypes: GRANT_TYPES,
    refuse: (error, text) => json({ error, error_description: text }, 400),
    secretPrefix: "ATOA",
  });
  app.get("/authorize", (c) => authorize(c, atlassian));
  const known = (c: Context<VendorEnv>, members: Members) =>
    authenticate(
      c,
      members,
      host.clients,
      ({ tokenEndpointAuthMethod = "client_secret_post" }) => tokenEndpointAuthMethod,
    );
  host.serve(
    "/oauth/token",
    "token",
    (error) => refuse(error),
    (c, members) => {
      const client = known(c, members);
      return client === undefined ? refuse("access_denied") : exchange(client, members, atlassian);
    },
  );
  host.serve(
    "/oauth/revoke",
    "revocation",
    (error) => refuse(error),
    (c, members) => {
      if (!settings.publishesRevocation) return Promise.resolve(c.notFound());
      const client = known(c, members);
      if (client === undefined) return refuse("access_denied");
      const token = tokens.find(members.get("token"), undefined, client.clientId);
      if (token !== undefined) tokens.endGrants(({ id }) => id === token.grant.id);
      return json({});
    },
  );
  serveAtlassianApi(host, settings, mcpServer);
  return {
    ...host.simulator(
      { ...endpoints(), userinfo_endpoint: `${url}/me` },
      {
        authorization: ["access_denied"],
        token: Object.keys(REFUSALS),
        api: API_ERRORS,
      },
    ),
    settings,
    /** Its URL, which is also the `resource` to ask for. */
    mcpServer,
  };
}

async function authorize(c: Context<VendorEnv>, { host, settings, codes, mcpServer }: Atlassian): Promise<Response> {
  const refused = host.takeRefusal("authorization");
  const query = queryMembers(c);
  const show = (text: string, code = "invalid_request") => host.consent.refuse(c, text, code);
  const client = host.clients.get(query.get("client_id") ?? "");
  if (client === undefined) return show("failed to retrieve client");
  const { clientId, name = clientId } = client;
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!client.redirectUris.includes(redirectUri)) return show("redirect_uri is not registered for this client");
  if (query.get("response_type") !== "code") return show("response_type must be code", "unsupported_response_type");
  const challenge = challengeOf(query);
  const resource = query.get("resource");
  const asked = query.list("scope");
  if (challenge?.method !== "S256") return show("This app needs enhanced security: code_challenge with S256");
  if (resource === undefined ? settings.resourceRequired : resource !== mcpServer) {
    return show("Invalid context provided. Please try authorizing again.", "invalid_context");
  }
  const scopes = asked.length > 0 ? asked : MCP_SCOPES;
  const back = wayBack(redirectUri, { state: query.get("state") });
  const deny = () => back({ error: "access_denied", error_description: "User did not authorize the request" });
  if (refused !== undefined) return c.redirect(deny().redirect);
  return host.consent.ask(c, {
    app: name,
    permissions: scopes.map((scope) => ({ scope, text: scopeText(scope) })),
    questions: () => siteChoice(settings),
    onAllow({ id: user }, form) {
      if (settings.userInstalledAppsBlocked) return ends("Your site admin must authorize this app first.");
      if (settings.blockedRedirectUris.includes(redirectUri)) {
        return ends("Incorrect request parameters", "invalid_request");
      }
      const chosen = form.get("site") ?? settings.chosenSite;
      const { id: siteId = "" } = settings.sites.find(({ id }) => id === chosen) ?? settings.sites[0] ?? {};
      const grant = { ...newGrant({ user, clientId, scopes }), siteId, since: host.now() };
      return back({ code: codes.issue({ grant, redirectUri, challenge, resource }) });
    },
    onCancel: deny,
  });
}

function siteChoice({ sites, chosenSite }: AtlassianSettings) {
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
  return { title, page: noticePage(title, text, code), status: 400 };
}

function exchange(client: RegisteredClient, members: Members, { host, codes, settings }: Atlassian): Response {
  const { tokens } = host;
  const resource = members.get("resource");
  const grantType = members.get("grant_type");
  if (grantType === "authorization_code") {
    return codes.redeem<Response>(members, client, {
      refuse: (mistake) => refuse("invalid_grant", CODE_TEXT[mistake]),
      check: ({ resource: before }) => ((resource ?? before) === before ? undefined : refuse("invalid_target")),
      answer: ({ grant }) => issue(grant, host),
    });
  }
  if (grantType !== "refresh_token") {
    return json({ error: "unsupported_grant_type", error_description: "Unsupported grant type" }, 400);
  }
  const token = tokens.find(members.get("refresh_token"), "refresh", client.clientId);
  if (token?.state !== "live") return refuse(settings.deadRefreshAnswer);
  tokens.end(token.value, "rotated");
  return issue(token.grant as AtlassianGrant, host);
}

function issue(grant: AtlassianGrant, { tokens, now }: Atlassian["host"]): Response {
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

function refuse(error: string, text?: string): Response {
  const [status, usual] = REFUSALS[error] ?? [400, ""];
  return json({ error, error_description: text ?? usual }, status);
}
