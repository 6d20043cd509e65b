/**
 * The sandbox's vendor: a certified OpenID provider (oidc-provider) on loopback, with its own
 * pages. Flows meet a server this repository did not write: PKCE is required, `iss` comes back with
 * the code, refresh tokens rotate, tokens can be revoked. Everything is kept in memory. For the
 * sandbox and for tests.
 */
// The declarations travel with the import, so that another workspace that imports this package sees
// them too.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./oidc-provider.d.ts" />
import { generateKeyPairSync } from "node:crypto";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
// The package's entry does nothing more than this file, except that it warns on stderr on a Node
// release without LTS name.
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";
import { Provider, type ProviderClient, type ProviderContext } from "oidc-provider/lib/provider.js";
import { PAGE_HEADERS } from "./layout.ts";
import { listen } from "./listen.ts";
import { ACCOUNTS } from "./pages.ts";
import { serveInteractions } from "./vendor-pages.ts";
import { recordVendorRequests } from "./vendor-requests.ts";
import { serveConsent, type Consent } from "./vendors/base/consent.ts";
import type { VendorEnv } from "./vendors/base/simulator.ts";

export interface OpenIdProviderClient {
  readonly clientId: string;
  /** Left out with `none`. */
  readonly clientSecret?: string;
  readonly redirectUris: readonly string[];
  /** Default `client_secret_basic`. */
  readonly tokenEndpointAuthMethod?: "client_secret_basic" | "client_secret_post" | "none";
  /** Shown on the consent page. */
  readonly clientName?: string;
}

export interface OpenIdProviderOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** Default 127.0.0.1; also the host of the issuer. */
  readonly host?: "127.0.0.1" | "localhost";
  readonly clients: readonly OpenIdProviderClient[];
  /** Default true. */
  readonly pkceRequired?: boolean;
  /** Default 3600. A function is called for each token. */
  readonly accessTokenLifetimeSeconds?: number | (() => number);
  /**
   * Opens dynamic client registration at `/reg`; with a token only to callers that present it.
   * Default: closed.
   */
  readonly registration?: { readonly initialAccessToken?: string };
  /** Where users start, for the way back from error pages. */
  readonly homeUrl?: string;
}

export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>;

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/**
 * Starts the provider. Endpoints: `/auth`, `/token`, `/token/revocation`, `/me` (userinfo),
 * `/jwks`, `/reg`. Scopes: openid profile email offline_access api:read api:write. Accounts: see
 * `ACCOUNTS`. A refresh token always comes. Revoking any token of a grant ends all of them;
 * revoking a refresh token also removes the consent.
 *
 * @throws Error when the port is taken or a client is malformed
 */
export async function startOpenIdProvider(options: OpenIdProviderOptions) {
  const { server, port, url: issuer, close } = await listen(options.port ?? 0, options.host);
  const pages = new Hono<VendorEnv>();
  const { homeUrl } = options;
  const consent = serveConsent(pages, "Sandbox vendor", { cookie: `vendor-${port}`, homeUrl });
  const provider = new Provider(issuer, configuration(options, port, consent));
  serveInteractions(pages, provider, consent);
  // Without a listener it writes to the terminal.
  provider.on("error", () => undefined);
  const { requests, faults } = recordVendorRequests(provider);

  const answerOAuth = provider.callback();
  const answerPages = getRequestListener(pages.fetch, { overrideGlobalObjects: false });
  server.on("request", (request, response) => {
    const isPage = /^\/($|interaction\/|simulator\/)/.test(request.url ?? "");
    if (isPage) void answerPages(request, response);
    else answerOAuth(request, response);
  });

  return {
    /** `http://127.0.0.1:PORT`; metadata below it at both well-known paths. */
    issuer,
    port,
    /**
     * Every request to the OAuth endpoints so far, oldest first, secrets included: for tests only.
     */
    requests,
    faults,
    close,
  };
}

function configuration(options: OpenIdProviderOptions, port: number, consent: Consent): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  // The provider's own store drops the oldest entries after the thousandth.
  const store = new Map<string, unknown>();
  return {
    adapter: (model: string) => new MemoryAdapter(model, store),
    clients: options.clients.map(clientMetadata),
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "sandbox-1" }] },
    cookies: {
      // Browsers do not keep the cookies of two ports apart, so the name does.
      names: {
        session: `vendor-${port}-session`,
        interaction: `vendor-${port}-interaction`,
        resume: `vendor-${port}-resume`,
      },
    },
    scopes: ["openid", "offline_access", "api:read", "api:write"],
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    findAccount: (_context: unknown, id: string) => findAccount(id),
    pkce: { required: () => options.pkceRequired ?? true },
    rotateRefreshToken: () => true,
    issueRefreshToken: async (_context: unknown, client: ProviderClient) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: () => false,
    ttl: {
      AccessToken: options.accessTokenLifetimeSeconds ?? HOUR_SECONDS,
      AuthorizationCode: 60,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      Session: DAY_SECONDS,
      Grant: 14 * DAY_SECONDS,
      RefreshToken: 14 * DAY_SECONDS,
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      revocation: { enabled: true, allowedPolicy: isOwnToken },
      introspection: { enabled: true, allowedPolicy: isOwnToken },
      registration: { enabled: options.registration !== undefined, ...options.registration },
    },
    interactions: {
      url: (_context: unknown, interaction: { readonly uid: string }) => `/interaction/${interaction.uid}`,
    },
    clientBasedCORS: () => false,
    async renderError(context: ProviderContext, out: { readonly error: string; readonly error_description?: string }) {
      context.set(PAGE_HEADERS);
      context.body = await consent.renderRefusal(out.error_description ?? "Something is wrong with it.", out.error);
    },
  };
}

function clientMetadata(client: OpenIdProviderClient): Record<string, unknown> {
  return {
    client_id: client.clientId,
    ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }),
    client_name: client.clientName ?? client.clientId,
    redirect_uris: client.redirectUris,
    token_endpoint_auth_method: client.tokenEndpointAuthMethod ?? "client_secret_basic",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}

function isOwnToken(_context: unknown, client: ProviderClient, token: { readonly clientId?: string }): boolean {
  return token.clientId === client.clientId;
}

function findAccount(id: string): { accountId: string; claims(): Record<string, unknown> } | undefined {
  const account = ACCOUNTS.find((candidate) => candidate.id === id);
  if (account === undefined) return undefined;
  return { accountId: id, claims: () => ({ sub: id, name: account.name, email: account.email, email_verified: true }) };
}
