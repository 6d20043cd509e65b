/**
 * The actors of the attacks: users with browsers, and the backends of platforms. They act on
 * fixture.ts.
 */
import { readAnswer } from "@oauth-broker/oauth-core/testing";
import { createCookieJar, type CookieJar, type FakeVendorOptions, sendWithCookies } from "@oauth-broker/simulators";
import {
  type Answer,
  challengeOf,
  createPlatform,
  encode as encodeForm,
  type Form,
  type Pushed,
} from "../../support/broker/platform.ts";
import { BASE_URL, type Exchange, FORM, HONEST, type PlatformId, PLATFORMS, vendorAt } from "./names.ts";
import { createFixture, type Fixture, type FixtureOptions } from "./fixture.ts";

export { type Answer, challengeOf, type Form };
/** A flow as the platform that started it knows it. */
export type Flow = Pushed;

type StopAt = (url: URL) => boolean;

export interface Visit {
  readonly url: URL;
  /** The broker's page it ended on; absent when it left, or stopped. */
  readonly page?: Exchange;
}

const MAX_HOPS = 12;

export type Browser = ReturnType<typeof createBrowser>;
/** @param user the user who is signed in at the vendors: lower-case letters */
export function createBrowser(fixture: Fixture, user: string, jar: CookieJar = createCookieJar()) {
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
    /**
     * Follows redirects as a browser does, through the broker and through vendors, which ask the user
     * nothing.
     *
     * @param stopAt the address for which it is true is not requested
     * @returns the last response: a page of the broker, or an address that is neither the broker's
     *   nor a vendor's
     */
    visit: async (start: URL, stopAt: StopAt = () => false): Promise<Visit> => {
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

export type Backend = ReturnType<typeof createBackend>;
export function createBackend(fixture: Fixture, clientId: PlatformId = "platform") {
  const { secret: clientSecret, redirectUri } = PLATFORMS[clientId];
  const platform = createPlatform({
    baseUrl: BASE_URL,
    clientId,
    clientSecret,
    redirectUri,
    vendor: "honest",
    scope: null,
    send: async (url, init) => {
      const { status, headers, body } = await fixture.request(url, init);
      return readAnswer(new Response(body, { status, headers }));
    },
  });
  const startUrl = (flow: Pick<Flow, "requestUri">): URL => new URL(platform.authorizeUrl(flow));
  const start = async (browser: Browser, stopAt?: StopAt, form?: Form) => {
    const flow = await platform.push(form);
    return { flow, ...(await browser.visit(startUrl(flow), stopAt)) };
  };
  return {
    ...platform,
    clientId,
    startUrl,
    /** Pushes a flow, whose start the browser visits. */
    start,
    redeem: (code: string, codeVerifier: string | undefined, form?: Form): Promise<Answer> =>
      platform.redeem({ code, codeVerifier }, form),
    /** A whole flow, up to the broker's answer. */
    connect: async (browser: Browser, form?: Form) => {
      const { flow, url } = await start(browser, undefined, form);
      const code = parameter(url, "code");
      const answer = await platform.redeem({ code, codeVerifier: flow.codeVerifier });
      return { ...answer, body: answer.body as Record<string, string>, flow, code };
    },
  };
}

/** An honest vendor, two platforms, and a browser of each user: what most attacks need. */
export async function openScene({
  vendor = {},
  vendors = [],
  ...options
}: Partial<FixtureOptions> & { readonly vendor?: Partial<FakeVendorOptions> } = {}) {
  const honest = vendorAt(HONEST, vendor);
  const fixture = await createFixture({ ...options, vendors: [honest, ...vendors] });
  const [backend, foe] = [createBackend(fixture), createBackend(fixture, "other")];
  const [victim, attacker] = [createBrowser(fixture, "victim"), createBrowser(fixture, "attacker")];
  return { fixture, honest, backend, foe, victim, attacker };
}
export type Scene = Awaited<ReturnType<typeof openScene>>;

/** The scene with the vendor's answer to the victim, which is not opened yet. */
export async function openAtCallback() {
  const scene = await openScene();
  return { ...scene, ...(await scene.backend.start(scene.victim, atCallback)) };
}
export type SceneAtCallback = Awaited<ReturnType<typeof openAtCallback>>;

export const recordOf = ({ broker }: Fixture, { flowId }: Flow) =>
  broker.deps.records.get({ kind: "flow", id: flowId });

/** Posts the owner page's form from `browser`, with the values of the page that `reader` is shown. */
export async function answerOwnerPage(
  fixture: Fixture,
  link: URL,
  browser: Browser,
  reader: Browser = browser,
): Promise<Exchange> {
  const { page } = await reader.visit(link);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page?.body ?? "")?.[1];
  const cookie = browser.jar.header(link);
  return fixture.request("/v1/authorize", {
    method: "POST",
    headers: { ...FORM, ...(cookie === undefined ? {} : { cookie }) },
    body: encode({ ...Object.fromEntries(link.searchParams), csrf, decision: "approve" }),
  });
}

/** Omits members that are undefined. */
export function encode(form: Form): string {
  return encodeForm(form).toString();
}

export function locationOf({ headers }: Pick<Exchange, "headers">): URL {
  return new URL(headers.get("location") ?? "");
}

export function parameter(url: URL, name: string): string {
  const value = url.searchParams.get(name);
  if (value === null) throw new Error(`${url.origin}${url.pathname} has no ${name}`);
  return value;
}

export function withParameters(base: string, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** @returns the request of a browser that is sent on to another vendor, in the flow it was in */
export function bounced(asked: URLSearchParams, endpoint: string, own: Readonly<Record<string, string>>): URL {
  const kept = { state: asked.get("state") ?? "", code_challenge: asked.get("code_challenge") ?? "" };
  return withParameters(endpoint, { response_type: "code", code_challenge_method: "S256", ...kept, ...own });
}
