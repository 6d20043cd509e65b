/**
 * A broker in memory for tests: one client, one vendor whose answers the test sets, and a clock
 * that stands still. Requests go to the app without sockets; e2e/ has the same over the wire.
 */
import { type Fetch, Secret } from "@oauth-broker/oauth-core";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import { parseParameters } from "@oauth-broker/oauth-core/protocol";
import { expectRefusalShape, fixedClock, readAnswer } from "@oauth-broker/oauth-core/testing";
import { expect } from "vitest";
import { type Broker, createBroker } from "../app.ts";
import type { ClientConfig, Config } from "../config.ts";
import { openApiDocument } from "../routes/openapi.ts";
import { createLog } from "@oauth-broker/service";
import { confidentialClient, ISSUER, memoryConfig, TEST_LIMITS } from "./memory-config.ts";

import { chooseVendor, type VendorChoice } from "../vendor-choice/choose.ts";
import { readVendorRequest } from "../vendor-choice/request.ts";

export { ISSUER, TEST_LIMITS };
export const CLIENT_SECRET = "s".repeat(43);
export const REDIRECT_URI = "https://platform.example/cb";
export const NOW = 1_700_000_000;
// The pair printed in rfc7636 appendix B.
export const CODE_VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CODE_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** The value of an Authorization header. */
export const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;

export interface TestBrokerOptions {
  readonly config?: Partial<Config>;
  readonly limits?: Partial<Config["limits"]>;
  readonly client?: Partial<ClientConfig>;
  readonly vendor?: Partial<Vendor>;
  /** Acts as the vendor's token endpoint; the default issues tokens. */
  readonly vendorAnswers?: Fetch;
}

/** For `vendorAnswers`: the same tokens each time, with a refresh token. */
export const issueTokens: Fetch = async () =>
  Response.json({ access_token: "at", token_type: "bearer", refresh_token: "rt" });

/** For `vendorAnswers`: a vendor that rotates refresh tokens. Each answer has the next number. */
export function rotatingTokens(): Fetch {
  let n = 0;
  return async () => Response.json({ access_token: `at-${++n}`, token_type: "bearer", refresh_token: `rt-${n}` });
}

/** Endpoints of a vendor beside those of a flow. */
export const WAYS = {
  revocationEndpoint: "https://acme.example/revoke",
  introspectionEndpoint: "https://acme.example/introspect",
};

/** For `vendorAnswers`: what those answer; undefined for any other. */
export function besideTokens(input: string | URL): Response | undefined {
  if (String(input) === WAYS.revocationEndpoint) return new Response(null);
  return String(input) === WAYS.introspectionEndpoint ? Response.json({ active: true, client_id: "ours" }) : undefined;
}

/**
 * For `vendorAnswers`: no response comes.
 *
 * @param sent false: no connection comes about
 */
export function lose(sent = true): never {
  throw Object.assign(new Error("no answer"), { name: "EgressError", kind: sent ? "broken" : "connect", sent });
}

export interface VendorRequest {
  readonly url: string;
  readonly form: URLSearchParams;
  readonly authorization: string | null;
  /** The call went through the egress for hosts that requests name. */
  readonly isUntrusted: boolean;
}

export type TestBroker = Awaited<ReturnType<typeof testBroker>>;

export async function testBroker(options: TestBrokerOptions = {}) {
  const now = fixedClock(NOW);
  const lines: string[] = [];
  const seen: VendorRequest[] = [];
  const vendorAnswers: Fetch =
    options.vendorAnswers ?? (async () => Response.json({ access_token: "at", token_type: "bearer" }));
  const fetchAs =
    (isUntrusted: boolean): Fetch =>
    async (input, init) => {
      const authorization = new Headers(init?.headers).get("authorization");
      seen.push({ url: String(input), form: formOf(init?.body), authorization, isUntrusted });
      return vendorAnswers(input, init);
    };
  const log = createLog({ write: (line) => void lines.push(line) });
  const fetchUntrusted = fetchAs(true);
  // As the guarded egress: behind a proxy a tenant's name is asked of it.
  const fetchTenant = options.config?.egress?.proxy === undefined ? fetchUntrusted : fetchAs(false);
  const egress = { fetch: fetchAs(false), fetchUntrusted, fetchTenant, close: async () => {} };
  const broker = await createBroker(configuration(options), { now, log, egress });
  await broker.deps.keyset.load();
  return { ...broker, ...requests(broker, lines), now, lines, seen };
}

function formOf(body: unknown): URLSearchParams {
  return new URLSearchParams(typeof body === "string" || body instanceof URLSearchParams ? body : "");
}

/** For a test that starts the broker itself. */
export function configuration({ config, limits, client, vendor }: TestBrokerOptions): Config {
  return memoryConfig({
    clients: [
      { ...testClient("platform"), ...client },
      { ...testClient("other"), redirectUris: ["https://other.example/cb"] },
    ],
    vendors: new Map([["acme", testVendor(vendor)]]),
    limits: { ...TEST_LIMITS, ...limits },
    ...config,
  });
}

export function testClient(clientId: string): ClientConfig {
  return confidentialClient(clientId, CLIENT_SECRET, REDIRECT_URI);
}

export function testVendor(
  overrides: Partial<Vendor> = {},
): Config["vendors"] extends ReadonlyMap<string, infer V> ? V : never {
  return {
    vendor: defineVendor({
      id: "acme",
      name: "Acme",
      authorizationEndpoint: "https://acme.example/authorize",
      tokenEndpoint: "https://acme.example/token",
      defaultScopes: ["read"],
      ...overrides,
    }),
    placeholders: {},
    setup: "none",
    byoc: true,
    credentials: [{ id: "2026", source: "shared", clientId: "ours", clientSecret: new Secret("vendor secret") }],
  };
}

/** Parameters and members that no log line may hold. */
const SECRET = /^(?:access_token|code|code_verifier|connection|cookie|refresh_token|request_uri|state|token|.*secret)$/;

const DESCRIBED = Object.entries(
  openApiDocument(ISSUER)["paths"] as Record<string, Record<string, { readonly responses: object }>>,
).map(([path, item]) => ({ pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`), item }));

/** What a route answers, its description says. */
function expectDescribed(method: string, path: string, status: number): void {
  const [pathname = ""] = path.split("?");
  const item = DESCRIBED.find(({ pattern }) => pattern.test(pathname))?.item;
  const responses = item?.[method.toLowerCase()]?.responses ?? { "404": {}, "405": {} };
  expect([...Object.keys(responses), "default" in responses ? String(status) : ""], path).toContain(String(status));
}

/**
 * The four legs as requests. A browser is represented by its Cookie header. Whatever a test is
 * about, a refusal has the shape of its kind, and the log holds no secret of request or response.
 */
function requests({ app }: Broker, lines: readonly string[]) {
  const read = async (
    response: Response,
    sent: Readonly<Record<string, unknown>>,
    asked: readonly [method: string, path: string],
  ) => {
    const answer = await readAnswer(response);
    expectDescribed(...asked, response.status);
    expectRefusalShape(answer, ISSUER);
    for (const [name, value] of Object.entries({ ...answer.body, ...sent })) {
      const isSecret = SECRET.test(name) && typeof value === "string" && value.length > 8;
      if (isSecret) expect(lines.join("")).not.toContain(value);
    }
    return answer;
  };
  /** @param form as text: exactly as it goes over the wire */
  const post = async (path: string, form: Record<string, string> | string, clientId = "platform") => {
    const response = await app.request(`${ISSUER}${path}`, {
      method: "POST",
      headers: { authorization: basic(clientId, CLIENT_SECRET), "content-type": "application/x-www-form-urlencoded" },
      body: typeof form === "string" ? form : new URLSearchParams(form).toString(),
    });
    return { response, ...(await read(response, typeof form === "string" ? {} : form, ["POST", path])) };
  };
  const get = async (path: string, cookie?: string, init: RequestInit = {}) => {
    const headers = {
      accept: "text/html",
      ...(cookie === undefined ? {} : { cookie }),
      ...(init.headers as Record<string, string>),
    };
    const response = await app.request(`${ISSUER}${path}`, { ...init, headers });
    const location = response.headers.get("location");
    const sent = { ...Object.fromEntries(new URL(path, ISSUER).searchParams), cookie: cookie?.split("=")[1] };
    return {
      response,
      html: (await read(response, sent, [init.method ?? "GET", path])).text,
      location: location === null ? undefined : new URL(location, ISSUER),
      cookie: response.headers.get("set-cookie")?.split(";")[0],
    };
  };

  const push = async (form: Record<string, string> = {}) => {
    const pushed = { ...PUSHED, ...form };
    return post("/v1/par", Object.fromEntries(Object.entries(pushed).filter(([, value]) => value !== "")));
  };
  const authorizePath = (requestUri: unknown): string =>
    `/v1/authorize?${new URLSearchParams({ client_id: "platform", request_uri: String(requestUri) }).toString()}`;
  /** Legs 1 and 2: the browser is at the vendor. */
  const start = async (form: Record<string, string> = {}) => {
    const { body } = await push(form);
    const path = authorizePath(body["request_uri"]);
    const { location, cookie = "" } = await get(path);
    const state = location?.searchParams.get("state") ?? "";
    return { path, location, cookie, state };
  };
  const callback = (parameters: Record<string, string>, cookie?: string, path = "/v1/callback") =>
    get(`${path}?${new URLSearchParams(parameters).toString()}`, cookie);
  /** Leg 3 of a flow that has started: the platform has the broker's code. */
  const land = async (
    { state, cookie, location: atVendor }: Pick<Awaited<ReturnType<typeof start>>, "state" | "cookie" | "location">,
    extra: Record<string, string> = {},
  ) => {
    const { pathname } = new URL(atVendor?.searchParams.get("redirect_uri") ?? ISSUER);
    const { location } = await callback({ state, code: "vendor-code", ...extra }, cookie, pathname);
    return location?.searchParams.get("code") ?? "";
  };
  const park = async (form: Record<string, string> = {}, extra: Record<string, string> = {}) =>
    land(await start(form), extra);
  const redeem = (code: string, form: Record<string, string> = {}, clientId?: string) =>
    post(
      "/v1/token",
      { grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI, code_verifier: CODE_VERIFIER, ...form },
      clientId,
    );
  /** Legs 1 to 4. @param extra what the vendor adds to its answer */
  const connect = async (form: Record<string, string> = {}, extra: Record<string, string> = {}) => {
    const answer = await redeem(await park(form, extra));
    return { ...answer, connection: String(answer.body["connection"]) };
  };
  const refresh = (form: Record<string, string>, clientId?: string) =>
    post("/v1/token", { grant_type: "refresh_token", refresh_token: "rt", ...form }, clientId);
  return { post, get, push, authorizePath, start, callback, land, park, redeem, connect, refresh };
}

/** @param text a cookie that leg 2 set, or a request_uri */
export function flowIdOf(text: unknown): string {
  return /(?:flow-|request_uri:)([\w-]{22})[=.]/.exec(String(text))?.[1] ?? "no flow";
}

/** For `get`: the browser posts a form. */
export const formPost = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  body,
});

/** The vendor and credentials of a client's request. @param form as in a URL */
export async function choose(
  { deps }: Pick<TestBroker, "deps">,
  clientId: string,
  form = "vendor=acme",
): Promise<VendorChoice> {
  const client = (await deps.clients.find(clientId)) ?? expect.fail("no client");
  return chooseVendor(readVendorRequest(parseParameters(form)), client, deps);
}

/** What `get` answers when a flow cannot go on: a page with the reason on it, and no redirect. */
export function refusedPage(reason: string) {
  return {
    response: expect.objectContaining({ status: 400 }) as Response,
    location: undefined,
    html: expect.stringContaining(reason) as string,
  };
}

/** A good request. */
export const PUSHED = {
  client_id: "platform",
  response_type: "code",
  vendor: "acme",
  redirect_uri: REDIRECT_URI,
  code_challenge: CODE_CHALLENGE,
  code_challenge_method: "S256",
  state: "the platform's own state & more",
};
