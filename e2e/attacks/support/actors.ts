/**
 * The actors of the attacks: users with browsers, and the backends of platforms. They act on
 * fixture.ts.
 */
import { createHash, randomBytes } from "node:crypto";
import { createCookieJar, type CookieJar, sendWithCookies } from "@oauth-broker/simulators";
import { BASE_URL, type Exchange, type PlatformId, PLATFORMS } from "./names.ts";
import type { Fixture } from "./fixture.ts";

export type Form = Readonly<Record<string, string | undefined>>;

/** A flow as the platform that started it knows it. */
export interface Flow {
  readonly requestUri: string;
  readonly flowId: string;
  /** The platform's own state. */
  readonly state: string;
  readonly codeVerifier: string;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Backend {
  readonly clientId: PlatformId;
  post(path: string, form: Form): Promise<Answer>;
  par(form?: Form): Promise<Answer>;
  /** @throws Error unless it is accepted */
  push(form?: Form): Promise<Flow>;
  startUrl(flow: Pick<Flow, "requestUri">): URL;
  redeem(code: string, codeVerifier: string | undefined, form?: Form): Promise<Answer>;
}

export interface Browser {
  readonly jar: CookieJar;
  /**
   * Follows redirects as a browser does, through the broker and through vendors, which ask the user
   * nothing.
   *
   * @param stopAt the address for which it is true is not requested
   * @returns the last response: a page of the broker, or an address that is neither the broker's
   *   nor a vendor's
   */
  visit(url: URL, stopAt?: (url: URL) => boolean): Promise<Visit>;
}

export interface Visit {
  readonly url: URL;
  /** The broker's page it ended on; absent when it left, or stopped. */
  readonly page?: Exchange;
}

const MAX_HOPS = 12;

/** @param user the user who is signed in at the vendors: lower-case letters */
export function createBrowser(fixture: Fixture, user: string, jar: CookieJar = createCookieJar()): Browser {
  const step = async (url: URL): Promise<URL | Exchange | undefined> => {
    if (url.origin === BASE_URL) {
      const answer = await sendWithCookies(fixture.request, jar, url, { headers: { accept: "text/html" } });
      const location = answer.headers.get("location");
      return location === null ? answer : new URL(location, url);
    }
    return fixture.vendors.find(({ origin }) => origin === url.origin)?.authorize(url, user);
  };
  return {
    jar,
    visit: async (start, stopAt = () => false) => {
      let url = start;
      for (let hop = 0; hop < MAX_HOPS; hop += 1) {
        if (stopAt(url)) return { url };
        const next = await step(url);
        if (next === undefined) return { url };
        if (!(next instanceof URL)) return { url, page: next };
        url = next;
      }
      throw new Error(`no end after ${MAX_HOPS} hops`);
    },
  };
}

/** For `visit`: stops before the broker receives the vendor's answer. */
export const atCallback = (url: URL): boolean =>
  url.origin === BASE_URL && /^\/v1\/(?:custom\/[^/]*\/)?callback/.test(url.pathname);

/** For `visit`: stops before the vendor is requested. */
export const awayFromBroker = (url: URL): boolean => url.origin !== BASE_URL;

export function createBackend(fixture: Fixture, clientId: PlatformId = "platform"): Backend {
  const { secret, redirectUri } = PLATFORMS[clientId];
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`;
  const post: Backend["post"] = async (path, form) => {
    const { status, body } = await fixture.request(path, {
      method: "POST",
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
      body: encode(form),
    });
    return { status, body: JSON.parse(body) as Record<string, unknown> };
  };
  const par = async (codeVerifier: string, state: string, form: Form): Promise<Answer> =>
    post("/v1/par", {
      client_id: clientId,
      response_type: "code",
      vendor: "honest",
      redirect_uri: redirectUri,
      code_challenge: challengeOf(codeVerifier),
      code_challenge_method: "S256",
      state,
      ...form,
    });
  return {
    clientId,
    post,
    par: async (form = {}) => par(random(), random(), form),
    push: async (form = {}) => {
      const [codeVerifier, state] = [random(), random()];
      const { status, body } = await par(codeVerifier, state, form);
      const requestUri = body["request_uri"];
      if (status !== 201 || typeof requestUri !== "string")
        throw new Error(`/v1/par: ${status} ${JSON.stringify(body)}`);
      const flowId = /:([^:.]+)\.[^.]*$/.exec(requestUri)?.[1] ?? "";
      return { requestUri, flowId, state: form["state"] ?? state, codeVerifier };
    },
    startUrl: ({ requestUri }) =>
      new URL(`${BASE_URL}/v1/authorize?${encode({ client_id: clientId, request_uri: requestUri })}`),
    redeem: async (code, codeVerifier, form = {}) =>
      post("/v1/token", {
        grant_type: "authorization_code",
        code,
        redirect_uri: redirectUri,
        code_verifier: codeVerifier,
        ...form,
      }),
  };
}

/** Omits members that are undefined. */
export function encode(form: Form): string {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) if (value !== undefined) encoded.append(name, value);
  return encoded.toString();
}

export function challengeOf(codeVerifier: string): string {
  return createHash("sha256").update(codeVerifier).digest("base64url");
}

export function parameter(url: URL, name: string): string {
  const value = url.searchParams.get(name);
  if (value === null) throw new Error(`${url.origin}${url.pathname} has no ${name}`);
  return value;
}

function random(): string {
  return randomBytes(32).toString("base64url");
}
