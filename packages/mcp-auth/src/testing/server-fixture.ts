/**
 * Hosted mode with the server's own callback: hosted-fixture.ts with three kinds of clients, and
 * browsers that keep cookies between our pages and the vendor's.
 */
import { deriveCodeChallenge } from "@oauth-broker/oauth-core/protocol";
import {
  type CookieJar,
  createCookieJar,
  driveConsent,
  type DriveConsentOptions,
  type OpenIdProvider,
  sendWithCookies,
  type FakeVendorServer,
} from "@oauth-broker/simulators";
import { expect } from "vitest";
import { parseForms } from "../../../simulators/src/html-forms.ts";
import type { ServerCallback } from "../settings.ts";
import { closing } from "./closing.ts";
import {
  type FixtureOptions,
  form,
  type HostedFixture,
  openHostedFixture,
  type OpenIdVendorOptions,
  type RequestParameters,
  SERVER,
  startOpenIdVendor,
  startStubVendor,
  type TokenAnswer,
  VERIFIER,
} from "./hosted-fixture.ts";

/** A client in the operator's list. */
export const DESK = { clientId: "desk", clientName: "Desk", redirectUris: ["https://desk.example/back"] } as const;
export const BACK = DESK.redirectUris[0];
/** A second client, and a program on the user's own device. */
export const OTHER = { clientId: "other", clientName: "Other", redirectUris: ["https://other.example/back"] } as const;
export const NATIVE = {
  clientId: "native",
  clientName: "Native",
  redirectUris: ["http://127.0.0.1/cb", "http://[::1]:7777/cb", "http://localhost:5000/cb"],
} as const;
export const STATE = "state of the client &=+%/é";

export interface ServerFixture extends HostedFixture {
  readonly callback: ServerCallback;
  browser(): TestBrowser;
  /** The whole flow up to the client, in a new browser. @returns our code */
  codeOf(parameters?: RequestParameters): Promise<string>;
  redeem(code: string | null | undefined, parameters?: RequestParameters): Promise<TokenAnswer>;
  /** The whole flow, in a new browser. @returns our token response, and the vendor's URL */
  connect(parameters?: RequestParameters): Promise<TokenAnswer & { readonly vendor: URL }>;
  /**
   * Registers openly.
   *
   * @returns the members of the response
   */
  register(metadata: object): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
}

/** The page as its form would be posted. */
export interface ShownPage {
  readonly html: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface TestBrowser {
  readonly jar: CookieJar;
  /** @param path or our whole URL */
  get(path: string | URL): Promise<Response>;
  post(path: string, fields: RequestParameters, headers?: Record<string, string>): Promise<Response>;
  authorize(parameters?: RequestParameters): Promise<Response>;
  /** The consent page. */
  ask(parameters?: RequestParameters): Promise<ShownPage>;
  /** @returns the response to the decision */
  decide(page: ShownPage, decision?: string): Promise<Response>;
  /**
   * Asked and approved.
   *
   * @returns the vendor's URL
   */
  approve(parameters?: RequestParameters): Promise<URL>;
  /**
   * At the vendor.
   *
   * @returns our callback URL with its response, not requested
   */
  consent(vendor: URL, options?: Partial<DriveConsentOptions>): Promise<URL>;
  /**
   * Our callback.
   *
   * @returns the URL it redirects to
   */
  finish(callback: URL): Promise<URL>;
  /** The whole flow up to the client. */
  connect(parameters?: RequestParameters): Promise<URL>;
}

export function openServerFixture({
  callback: changes = {},
  settings,
  ...options
}: Omit<FixtureOptions, "settings"> & {
  readonly callback?: Partial<ServerCallback>;
  readonly settings?: FixtureOptions["settings"];
}): ServerFixture {
  const callback: ServerCallback = {
    kind: "server",
    redirectUri: `${SERVER}/callback`,
    clients: [DESK, OTHER, NATIVE],
    registration: undefined,
    clientMetadataHosts: [],
    ...changes,
  };
  const fixture = openHostedFixture({ ...options, settings: { callback, ...settings } });
  const desk = { client_id: DESK.clientId };
  const redeem: ServerFixture["redeem"] = (code, parameters = {}) =>
    fixture.token({ ...desk, redirect_uri: BACK, code: code ?? undefined, ...parameters });
  const codeOf: ServerFixture["codeOf"] = async (parameters) =>
    (await browserOf(fixture).connect(parameters)).searchParams.get("code") ?? "";
  return {
    ...fixture,
    callback,
    browser: () => browserOf(fixture),
    codeOf,
    redeem,
    connect: async (parameters = {}) => {
      const { scope: _, state: __, ...client } = parameters;
      const browser = browserOf(fixture);
      const vendor = await browser.approve(parameters);
      const back = await browser.finish(await browser.consent(vendor));
      return { ...(await redeem(back.searchParams.get("code"), client)), vendor };
    },
    refresh: (refreshToken, parameters = {}) => fixture.refresh(refreshToken, { ...desk, ...parameters }),
    revoke: (token, parameters = {}) => fixture.revoke(token, { ...desk, ...parameters }),
    register: async (metadata) => {
      const answer = await fixture.request("/register", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(metadata),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
  };
}

export const ASK: RequestParameters = {
  response_type: "code",
  client_id: DESK.clientId,
  redirect_uri: BACK,
  code_challenge: deriveCodeChallenge(VERIFIER),
  code_challenge_method: "S256",
  state: STATE,
};

export function location(answer: Response): URL {
  return new URL(answer.headers.get("location") ?? "none:");
}

/** A page for a person: no redirect. */
export async function expectPage(answer: Response, status = 400): Promise<string> {
  expect([answer.status, answer.headers.get("location")]).toEqual([status, null]);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("www-authenticate")).toBeNull();
  return answer.text();
}

function browserOf(fixture: HostedFixture): TestBrowser {
  const jar = createCookieJar();
  const request = (url: string, init: RequestInit) => fixture.request(url.slice(SERVER.length), init);
  const send = (path: string | URL, init?: RequestInit) => sendWithCookies(request, jar, new URL(path, SERVER), init);
  const browser: TestBrowser = {
    jar,
    get: (path) => send(path),
    post: (path, fields, headers = {}) => send(path, { method: "POST", body: form(fields), headers }),
    authorize: (parameters = {}) => send(`/authorize?${form({ ...ASK, ...parameters }).toString()}`),
    ask: async (parameters) => {
      const answer = await browser.authorize(parameters);
      const html = await answer.text();
      expect(answer.status, html).toBe(200);
      return { html, fields: Object.fromEntries(parseForms(html)[0]?.fields ?? []) };
    },
    decide: ({ fields }, decision = "approve") => browser.post("/authorize", { ...fields, decision }),
    approve: async (parameters) => {
      const answer = await browser.decide(await browser.ask(parameters));
      expect(answer.status).toBe(303);
      return location(answer);
    },
    consent: (vendor, given = {}) =>
      driveConsent(vendor, { cookieJar: jar, stopAt: (url) => url.href.startsWith(SERVER), ...given }),
    finish: async (callback) => location(await send(callback)),
    connect: async (parameters) => browser.finish(await browser.consent(await browser.approve(parameters))),
  };
  return browser;
}

export interface OpenIdServerFixture extends ServerFixture {
  readonly provider: OpenIdProvider;
}

/** With the OpenID provider as the vendor. */
export async function openOpenIdServerFixture({
  entry,
  provider: changes,
  ...options
}: OpenIdVendorOptions & Partial<Parameters<typeof openServerFixture>[0]> = {}): Promise<OpenIdServerFixture> {
  const { provider, vendor } = await startOpenIdVendor([`${SERVER}/callback`], { entry, provider: changes });
  const fixture = openServerFixture({ vendor, ...options });
  return closing({ ...fixture, provider }, async () => {
    await fixture.close();
    await provider.close();
  });
}

export interface StubServerFixture extends ServerFixture {
  readonly stub: FakeVendorServer;
}

/** With the stub vendor. */
export async function openStubServerFixture(
  options: Partial<Parameters<typeof openServerFixture>[0]> = {},
): Promise<StubServerFixture> {
  const { stub, settings: _, ...usual } = await startStubVendor();
  const fixture = openServerFixture({ ...usual, ...options });
  return closing({ ...fixture, stub }, async () => {
    await fixture.close();
    await stub.close();
  });
}
