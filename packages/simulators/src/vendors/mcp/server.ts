/**
 * An MCP authorization server built from its rules: Linear's and Notion's are two of them. A client,
 * registered or described by a document, is bound to its authentication method; exchange, refresh
 * and, for a form with `token` and no `grant_type`, revocation share one URL. An authorization
 * request whose client or callback is not known ends on a page; everything else goes back to the
 * client with the registered error, and with `iss` if the server says so.
 */
import type { Context } from "hono";
import { authenticate } from "../base/clients.ts";
import { challengeOf, createCodes, type Bound, type Challenge, type CodeMistake, type Codes } from "../base/codes.ts";
import { startVendorHost, wayBack, type VendorHost, type VendorSimulator } from "../base/host.ts";
import { serveIntrospection } from "../base/introspection.ts";
import { json, queryMembers, readMembers, type Members } from "../base/members.ts";
import type { Permission } from "../../pages.ts";
import { AUTH_METHODS, GRANT_TYPES, serveRegistration, type RegisteredClient } from "../base/registration.ts";
import type { SimulatorOptions, VendorEnv } from "../base/simulator.ts";
import { newGrant, type Grant } from "../base/tokens.ts";
import { isDocumentAddress, readClientDocument } from "./client-documents.ts";
import { CALLBACK_ERRORS, oauthError, REGISTRATION_ERRORS, REVOCATION_ERRORS, TOKEN_ERRORS } from "./oauth-errors.ts";

export interface McpRules {
  /** What the server offers; an authorization request without `scope` gets all of them. */
  readonly scopes: readonly Permission[];
  readonly challengeMethods: readonly Challenge["method"][];
  /** Whether the callback has `iss` (RFC 9207). */
  readonly sendsIssuer: boolean;
  readonly accessLifetimeSeconds: number;
  /** How long a used refresh token returns the pair it was exchanged for; 0 = dead at once. */
  readonly replayWindowSeconds: number;
  /**
   * Protected resources by the path of their metadata below the well-known one, `""` for the root:
   * the path of each, and its scopes.
   */
  readonly resources: Readonly<Record<string, { readonly path: string; readonly scopes: readonly string[] }>>;
  /** Where the MCP servers are, each with the metadata its 401 names. */
  readonly servers: Readonly<Record<string, string>>;
  readonly hasIntrospection: boolean;
}

type Pair = ReturnType<typeof issue>;

interface McpState extends VendorHost<RegisteredClient> {
  readonly rules: McpRules;
  readonly codes: Codes<Bound>;
  /** By the refresh token that they were exchanged for. */
  readonly pairs: Map<string, Pair>;
}

const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

/** Serves `/authorize`, `/token`, `/register`, the metadata and the MCP servers that `rules` names. */
export async function startMcp(
  vendor: { readonly id: string; readonly brand: string },
  options: SimulatorOptions,
  rules: McpRules,
): Promise<VendorSimulator<RegisteredClient>> {
  const host = await startVendorHost<RegisteredClient>(vendor, options);
  const { app, url } = host;
  const state: McpState = { ...host, rules, codes: createCodes(host), pairs: new Map() };
  app.get("/authorize", (c) => authorize(c, state));
  app.post("/token", (c) => answerToken(c, state));
  if (rules.hasIntrospection) serveIntrospection(host, authMethodOf);
  serveRegistration(host, "/register", {
    method: "client_secret_basic",
    grantTypes: ["authorization_code"],
    refuse: oauthError,
  });
  const endpoints = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    revocation_endpoint: `${url}/token`,
    registration_endpoint: `${url}/register`,
    ...(rules.hasIntrospection ? { introspection_endpoint: `${url}/introspect` } : {}),
  };
  app.get("/.well-known/oauth-authorization-server", () =>
    json({
      ...endpoints,
      scopes_supported: rules.scopes.map(({ scope }) => scope),
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: GRANT_TYPES,
      token_endpoint_auth_methods_supported: AUTH_METHODS,
      code_challenge_methods_supported: rules.challengeMethods,
      client_id_metadata_document_supported: true,
      ...(rules.sendsIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
    }),
  );
  for (const [suffix, { path, scopes }] of Object.entries(rules.resources)) {
    const resource = { resource: url + path, authorization_servers: [url], scopes_supported: scopes };
    app.get(RESOURCE_METADATA + suffix, () => json({ ...resource, bearer_methods_supported: ["header"] }));
  }
  for (const [path, suffix] of Object.entries(rules.servers)) {
    // Stands for the MCP server: returns the user of the token, and no more.
    app.on(["GET", "POST"], path, (c) => {
      const grant = host.access(c)?.grant;
      const isGood = grant !== undefined && host.takeRefusal("api") === undefined;
      if (isGood) return json({ user: grant.user, scope: grant.scopes.join(" ") });
      const metadata = `resource_metadata="${url}${RESOURCE_METADATA}${suffix}"`;
      const challenge = `Bearer realm="OAuth", ${metadata}, error="invalid_token"`;
      return json({ error: "invalid_token" }, 401, { "WWW-Authenticate": challenge });
    });
  }
  return host.simulator(endpoints, {
    authorization: CALLBACK_ERRORS,
    token: TOKEN_ERRORS,
    revocation: REVOCATION_ERRORS,
    registration: REGISTRATION_ERRORS,
    api: ["invalid_token"],
  });
}

/** By default Basic with a secret, none without. */
function authMethodOf({ clientSecret, tokenEndpointAuthMethod }: RegisteredClient) {
  return tokenEndpointAuthMethod ?? (clientSecret === undefined ? "none" : "client_secret_basic");
}

async function authorize(c: Context<VendorEnv>, state: McpState): Promise<Response> {
  const query = queryMembers(c);
  const { rules, url, consent, clients, codes } = state;
  const asked = query.get("client_id") ?? "";
  const client = isDocumentAddress(asked) ? await readClientDocument(asked) : clients.get(asked);
  if (client === undefined) return consent.refuse(c, "There is no such client.", "invalid_client");
  const { clientId, name = clientId } = client;
  // As its document describes it now.
  clients.set(clientId, client);
  const redirectUri = query.get("redirect_uri");
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    return consent.refuse(c, "The callback is not one of this client.", "invalid_redirect_uri");
  }
  const back = wayBack(redirectUri, { state: query.get("state"), iss: rules.sendsIssuer ? url : undefined });
  const offered = rules.scopes.map(({ scope }) => scope);
  const named = query.list("scope");
  const scopes = named.length === 0 ? offered : named;
  const error = state.takeRefusal("authorization") ?? mistakeOf(query, scopes, state);
  if (error !== undefined) return c.redirect(back({ error }).redirect);
  return consent.ask(c, {
    app: name,
    permissions: rules.scopes.filter(({ scope }) => scopes.includes(scope)),
    onAllow: ({ id: user }) => {
      const grant = newGrant({ user, clientId, scopes });
      return back({ code: codes.issue({ grant, redirectUri, challenge: challengeOf(query) }) });
    },
    onCancel: () => back({ error: "access_denied" }),
  });
}

function mistakeOf(query: Members, scopes: readonly string[], { rules, url }: McpState): string | undefined {
  if (query.get("response_type") !== "code") return "unsupported_response_type";
  // Left out, the method is plain (RFC 7636 4.3).
  const method = query.get("code_challenge_method") ?? "plain";
  const isProven = rules.challengeMethods.some((one) => one === method) && challengeOf(query) !== undefined;
  if (!isProven) return "invalid_request";
  if (!scopes.every((asked) => rules.scopes.some(({ scope }) => scope === asked))) return "invalid_scope";
  const resource = query.get("resource");
  if (resource === undefined) return undefined;
  // A URL without a path equals the same with a slash.
  const resources = Object.values(rules.resources).map(({ path }) => new URL(url + path).href);
  return URL.canParse(resource) && resources.includes(new URL(resource).href) ? undefined : "invalid_target";
}

const CODE_TEXT: Readonly<Partial<Record<CodeMistake, string>>> = {
  spent: "The code was used before",
  expired: "The code has expired",
  redirect_uri: "redirect_uri",
  verifier: "code_verifier",
};

async function answerToken(c: Context<VendorEnv>, state: McpState): Promise<Response> {
  const { tokens, codes } = state;
  const members = await readMembers(c);
  const grantType = members.get("grant_type");
  const isRevocation = grantType === undefined && members.get("token") !== undefined;
  const forced = state.takeRefusal(isRevocation ? "revocation" : "token");
  if (forced !== undefined) return oauthError(forced);
  const client = authenticate(c, members, state.clients, authMethodOf);
  if (client === undefined) return oauthError("invalid_client");
  if (isRevocation) return revoke(client, members, state);
  if (grantType === "authorization_code") {
    return codes.redeem<Response>(members, client, {
      refuse: (mistake, bound) => {
        // RFC 6749 4.1.2: a code that is used twice has its tokens revoked.
        if (mistake === "spent") tokens.endGrants(({ id }) => id === bound?.grant.id);
        return oauthError("invalid_grant", CODE_TEXT[mistake]);
      },
      answer: ({ grant }) => answer(grant, issue(grant, state), state),
    });
  }
  if (grantType === "refresh_token") return refresh(client, members, state);
  return oauthError(grantType === undefined ? "invalid_request" : "unsupported_grant_type");
}

function refresh(client: RegisteredClient, members: Members, state: McpState): Response {
  const { tokens, now, pairs } = state;
  const found = tokens.find(members.get("refresh_token"), "refresh", client.clientId);
  if (found === undefined) return oauthError("invalid_grant");
  const { value, grant } = found;
  const before = pairs.get(value);
  if (found.state === "rotated" && before !== undefined && now() < before.until) return answer(grant, before, state);
  if (found.state !== "live") return oauthError("invalid_grant", "The refresh token was used, revoked or has expired");
  tokens.end(value, "rotated");
  const pair = issue(grant, state);
  pairs.set(value, pair);
  return answer(grant, pair, state);
}

/**
 * A refresh token ends its grant, an access token only itself. Unknown ones are accepted (RFC 7009
 * 2.2).
 */
function revoke(client: RegisteredClient, members: Members, { tokens }: McpState): Response {
  const token = tokens.find(members.get("token"), undefined, client.clientId);
  if (token?.kind === "refresh") tokens.endGrants(({ id }) => id === token.grant.id);
  if (token !== undefined) tokens.end(token.value, "revoked");
  return new Response(null, { status: 200 });
}

function issue(grant: Grant, { tokens, rules, now }: Pick<McpState, "tokens" | "rules" | "now">) {
  return {
    accessToken: tokens.issue("access", grant, { lifetimeSeconds: rules.accessLifetimeSeconds }),
    refreshToken: tokens.issue("refresh", grant),
    /** Until when it comes again for the refresh token it was exchanged for. */
    until: now() + rules.replayWindowSeconds,
  };
}

function answer(grant: Grant, { accessToken, refreshToken }: Pair, { tokens, now }: McpState): Response {
  return json({
    access_token: accessToken,
    token_type: "bearer",
    expires_in: (tokens.find(accessToken)?.expiresAt ?? now()) - now(),
    refresh_token: refreshToken,
    scope: grant.scopes.join(" "),
  });
}
