/**
 * Hosted mode with the platform's callback: our routes, the sandbox's OpenID provider as the
 * vendor, stores in memory that can be made to fail, and the platform with its user's browser. Any
 * other vendor can be used.
 */
import {
  type Clock,
  type Fetch,
  type KeyWrapper,
  OAuthError,
  type RecordStore,
  Secret,
  systemClock,
  systemTimer,
} from "@oauth-broker/oauth-core";
import { createVendorClient, type VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { deriveCodeChallenge } from "@oauth-broker/oauth-core/protocol";
import { defineVendor, type Vendor, type VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { endSurplusCookies } from "@oauth-broker/oauth-core/authorization-server";
import { createLog } from "@oauth-broker/service";
import { mount } from "@oauth-broker/service/http";
import { expectRefusalShape, fixedClock, readAnswer } from "@oauth-broker/oauth-core/testing";
import {
  driveConsent,
  type FakeVendorServer,
  type OpenIdProvider,
  type OpenIdProviderOptions,
  startFakeVendor,
  startOpenIdProvider,
} from "@oauth-broker/simulators";
import { authenticatedRecords, createTokenStore, type TokenRows, oneMacKey } from "@oauth-broker/token-store";
import { memoryRecordStore, memoryTokenRows } from "@oauth-broker/token-store/memory";
import { Hono } from "hono";
import type { Authenticate } from "../mode.ts";
import type { HostedDeps } from "../hosted/deps.ts";
import { authenticate } from "../hosted/authenticate.ts";
import { linkKey } from "../hosted/links/link.ts";
import { withSessions } from "../hosted/hosted.ts";
import { createPages, type Pages } from "../hosted/pages/deps.ts";
import { hostedRoutes } from "../hosted/routes.ts";
import { createServerKey, type ServerKey } from "../hosted/records/server-key.ts";
import { documentEgress, publicDocumentEgress } from "../hosted/clients/metadata-document.ts";
import { pagesOf } from "../app.ts";
import { createPresentation, type ScopeMeanings } from "../presentation/presentation.ts";
import type { HostedSettings } from "../settings.ts";
import { type Closing, closing } from "./closing.ts";
import { CALLBACK, hostedSettings, SERVER } from "./hosted-settings.ts";

export { CALLBACK, SERVER };
export const CREDENTIALS: VendorCredentials = {
  id: "env",
  source: "environment",
  clientId: "our-client",
  clientSecret: new Secret("our-secret"),
};
export const SCOPES = ["openid", "profile", "api:read", "api:write"];
/** At addresses that no one asks. */
export const UNASKED_VENDOR = defineVendor({
  id: "example",
  name: "Example",
  authorizationEndpoint: "https://vendor.example/authorize",
  tokenEndpoint: "https://vendor.example/token",
});
export const PLATFORM_STATE = "state of the platform &=+%/é";
/** One flow's PKCE #1: rfc7636 appendix B. */
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/** Undefined leaves a parameter out. */
export type RequestParameters = Readonly<Record<string, string | undefined>>;

export interface HostedFixture extends HostedDeps, Closing {
  /** The records as stored. */
  readonly table: RecordStore;
  /** The token rows as stored. */
  readonly rows: TokenRows;
  readonly authenticate: Authenticate;
  /** With `VENDORS`. */
  readonly linking: Pages | undefined;
  /** Log lines so far. */
  readonly lines: string[];
  /** Time passes only by `advance`. */
  readonly clock: { advance(seconds: number): void };
  /** The stores named in this set do not respond. */
  readonly down: Set<"records" | "tokens">;
  /**
   * Sends a request as a browser or backend would. A refusal has the shape of its kind.
   *
   * @param address of the caller
   */
  request(path: string, init?: RequestInit, address?: string): Promise<Response>;
  authorize(parameters?: RequestParameters): Promise<Response>;
  token(parameters: RequestParameters): Promise<TokenAnswer>;
  refresh(refreshToken: string | undefined, parameters?: RequestParameters): Promise<TokenAnswer>;
  revoke(token: string | undefined, parameters?: RequestParameters): Promise<Response>;
}

export interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, string>>;
}

export interface FixtureOptions {
  readonly vendor: Vendor;
  readonly credentials?: VendorCredentials;
  readonly scopes?: readonly string[];
  readonly settings?: Partial<HostedSettings>;
  /** Given the fixture's clock; default in memory. */
  readonly records?: (now: Clock) => RecordStore;
  /** Default in memory. */
  readonly rows?: TokenRows;
  /** Default none: the rows are those of `bridge`, and nothing in them is encrypted. */
  readonly keys?: KeyWrapper;
  /** On the fixture's records; default unsealed. */
  readonly serverKey?: (records: RecordStore) => ServerKey;
  /** For metadata documents of clients; default the real one, on loopback too. */
  readonly fetchDocument?: Fetch;
  readonly scopeMeanings?: ScopeMeanings;
  readonly events?: HostedDeps["events"];
  /** Replaces parts of the vendor client. */
  readonly vendorClient?: (real: VendorClient) => VendorClient;
}

export function openHostedFixture({
  vendor,
  scopes = SCOPES,
  settings: changes,
  ...options
}: FixtureOptions): HostedFixture {
  const clock = fixedClock(systemClock.milliseconds() / 1000);
  const milliseconds = () => Math.round(clock() * 1000);
  const now: Clock = Object.assign(() => Math.floor(milliseconds() / 1000), { milliseconds });
  const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: 2_000 });
  const real = createVendorClient({ fetch: egress.fetch, timer: systemTimer, now, allowLoopback: true });
  const down: HostedFixture["down"] = new Set();
  const table = failing(options.records?.(now) ?? memoryRecordStore({ now }), "records", down);
  const rows = options.rows ?? memoryTokenRows();
  const tokens = failing(
    createTokenStore({ rows, keys: options.keys, timer: systemTimer, mode: "bridge", environment: "test", now }),
    "tokens",
    down,
  );
  const serverKey =
    options.serverKey?.(table) ?? createServerKey({ records: table, keys: undefined, context: { table: "memory" } });
  const records = authenticatedRecords({ records: table, keys: oneMacKey(() => serverKey.derive("record-mac")) });
  const own = { vendor, credentials: options.credentials ?? CREDENTIALS, scopes, apiHosts: [] };
  const settings = hostedSettings({ vendor: own, ...changes });
  const documents = createEgress(documentEgress(settings));
  const publicDocuments = createEgress(publicDocumentEgress(settings));
  const vendorClient = options.vendorClient?.(real) ?? real;
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const presentation = createPresentation(settings.operator, { name: "Test server" }, options.scopeMeanings);
  const deps = withSessions({
    settings,
    presentation,
    now,
    records,
    tokens,
    serverKey,
    vendorClient,
    fetchDocument: options.fetchDocument ?? documents.fetchUntrusted,
    fetchPublicDocument: options.fetchDocument ?? publicDocuments.fetchUntrusted,
    log,
    events: options.events,
  });
  const linking = createPages(deps);
  const app = new Hono();
  mount(app, hostedRoutes(deps, linking), {
    log,
    ...pagesOf(presentation),
    isHttps: true,
    endSurplusCookies,
  });
  const request: HostedFixture["request"] = async (path, init, remoteAddress) => {
    // The OpenID provider's clock is the machine's: as a flow begins, ours is not behind it.
    if (vendor.issuer !== undefined && path.startsWith("/authorize")) clock.advance(Math.max(0, systemClock() - now()));
    const response = await app.request(`${SERVER}${path}`, init, { remoteAddress });
    if (response.status >= 400) expectRefusalShape(await readAnswer(response.clone()), SERVER);
    return response;
  };
  const post = (path: string, parameters: RequestParameters): Promise<Response> =>
    request(path, { method: "POST", body: form({ client_id: "platform", ...parameters }) });
  const token: HostedFixture["token"] = async (parameters) => {
    const answer = await post("/token", parameters);
    const body = (await answer.json()) as Record<string, string>;
    return { status: answer.status, headers: answer.headers, body };
  };
  const opened = {
    ...deps,
    table,
    rows,
    linking,
    authenticate: (bearer: string) => authenticate(bearer, linking ?? deps),
    lines,
    clock,
    down,
    request,
    authorize: (parameters: RequestParameters = {}) =>
      request(`/authorize?${form({ ...AUTHORIZE, ...parameters }).toString()}`),
    token: (parameters: RequestParameters) => token({ ...REDEEM, ...parameters }),
    refresh: (refreshToken: string | undefined, parameters: RequestParameters = {}) =>
      token({ grant_type: "refresh_token", refresh_token: refreshToken, ...parameters }),
    revoke: (value: string | undefined, parameters: RequestParameters = {}) =>
      post("/revoke", { token: value, ...parameters }),
  };
  return closing(opened, async () => {
    await tokens.close(0).catch(() => undefined);
    await Promise.all([egress.close(), documents.close(), publicDocuments.close()]);
  });
}

/**
 * A vendor that shows no consent page, accepts every code any number of times, and whose only user
 * is `user`.
 */
export async function startStubVendor(): Promise<{ readonly stub: FakeVendorServer } & FixtureOptions> {
  const stub = await startFakeVendor({ codes: "any" });
  const { authorizationEndpoint, tokenEndpoint } = stub;
  return {
    stub,
    vendor: defineVendor({ id: "stub", name: "Stub Vendor", authorizationEndpoint, tokenEndpoint }),
    scopes: ["read", "write"],
    vendorClient: (real) => ({ ...real, identify: async () => "user" }),
  };
}

const AUTHORIZE = {
  response_type: "code",
  client_id: "platform",
  redirect_uri: CALLBACK,
  code_challenge: deriveCodeChallenge(VERIFIER),
  code_challenge_method: "S256",
  state: PLATFORM_STATE,
};
const REDEEM = { grant_type: "authorization_code", redirect_uri: CALLBACK, code_verifier: VERIFIER };

/** The parameters of a request, as its query or body takes them. */
export function form(parameters: RequestParameters): URLSearchParams {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given);
}

/** The link of `user`. */
export async function linkOf(
  fixture: Pick<HostedFixture, "tokens" | "settings">,
): Promise<{ readonly token: string | undefined; readonly scope: string | undefined }> {
  const { accessToken, scope } = (await fixture.tokens.get(linkKey("user", fixture)))?.tokens ?? {};
  return { token: accessToken?.reveal(), scope };
}

function failing<Store extends object>(store: Store, name: "records" | "tokens", down: HostedFixture["down"]): Store {
  return new Proxy(store, {
    get: (target, method, receiver) => {
      const value: unknown = Reflect.get(target, method, receiver);
      if (typeof value !== "function" || !down.has(name)) return value;
      return async () => {
        throw new OAuthError("temporarily_unavailable", "The store does not answer", { reason: "store_unavailable" });
      };
    },
  });
}

export interface OpenIdFixture extends HostedFixture {
  readonly provider: OpenIdProvider;
  /**
   * The user goes to the vendor and approves.
   *
   * @returns the parameters of the platform's callback
   */
  consent(parameters?: RequestParameters): Promise<Record<string, string>>;
  /**
   * The whole flow.
   *
   * @returns our token response
   */
  connect(parameters?: RequestParameters): Promise<TokenAnswer>;
}

/** Changes to the OpenID provider that is the vendor, and to its entry. */
export interface OpenIdVendorOptions {
  readonly entry?: Partial<Vendor> | undefined;
  readonly provider?: Partial<OpenIdProviderOptions> | undefined;
}

/** An OpenID provider that knows CREDENTIALS. */
export async function startOpenIdVendor(
  redirectUris: readonly string[],
  { entry, provider: options }: OpenIdVendorOptions,
): Promise<{ readonly provider: OpenIdProvider; readonly vendor: Vendor }> {
  const { clientId, clientSecret } = CREDENTIALS;
  const client = { clientId, clientSecret: clientSecret?.reveal() ?? "", redirectUris };
  const provider = await startOpenIdProvider({ clients: [client], ...options });
  return { provider, vendor: defineVendor({ id: "sandbox", name: "Sandbox", issuer: provider.issuer, ...entry }) };
}

/** The vendor's next answer to a token request is this error. */
export function refuseTokens({ faults }: Pick<OpenIdProvider, "faults">, error = "invalid_grant"): void {
  const headers = { "content-type": "application/json" };
  faults.next("/token", { kind: "answer", status: 400, headers, body: JSON.stringify({ error }) });
}

/** With the OpenID provider as the vendor. */
export async function openOpenIdFixture({
  entry,
  provider: changes,
  ...options
}: OpenIdVendorOptions & Partial<FixtureOptions> = {}): Promise<OpenIdFixture> {
  const { provider, vendor } = await startOpenIdVendor([CALLBACK], { entry, provider: changes });
  const fixture = openHostedFixture({ vendor, ...options });
  const consent: OpenIdFixture["consent"] = async (parameters) => {
    const answer = await fixture.authorize(parameters);
    const stopAt = (url: URL): boolean => url.href.startsWith(CALLBACK);
    const back = await driveConsent(answer.headers.get("location") ?? "", { stopAt });
    return Object.fromEntries(back.searchParams);
  };
  const connect: OpenIdFixture["connect"] = async (parameters) =>
    fixture.token({ code: (await consent(parameters))["code"] });
  return closing({ ...fixture, provider, consent, connect }, async () => {
    await fixture.close();
    await provider.close();
  });
}
