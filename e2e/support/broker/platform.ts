/**
 * A platform's backend and its user, written out request by request: for tests that send what a
 * well-behaved library would not. Every secret that passes through is planted.
 */
import { createHash } from "node:crypto";
import { type ReadAnswer as Answer, readAnswer } from "@oauth-broker/oauth-core/testing";
import {
  type CookieJar,
  createCookieJar,
  driveConsent,
  type DriveConsentOptions,
  sendWithCookies,
} from "@oauth-broker/simulators";
import { REDIRECT_URI, SCOPE } from "./configuration.ts";
import { plantSecret, random } from "../secrets.ts";
import { textMember } from "../text-member.ts";

export { type Answer, random };

export type Form = Readonly<Record<string, string | undefined>>;

export type Pushed = Awaited<ReturnType<Platform["push"]>>;
/** The browser is back at the platform. */
export type AtPlatform = Awaited<ReturnType<Platform["toPlatform"]>>;

interface Redeemable {
  readonly code: string;
  readonly codeVerifier: string | undefined;
}

/** What a later request names of tokens, if there is one. */
type Granted = Readonly<Partial<Record<"refreshToken" | "connection", string | undefined>>>;

interface PlatformOptions {
  readonly baseUrl: string;
  readonly clientId?: string;
  readonly clientSecret: string;
  readonly redirectUri?: string;
  readonly vendor?: string;
  /** Default: that of most tests; null: none. */
  readonly scope?: string | null;
  /** Default: over the wire. */
  readonly send?: (url: string, init: RequestInit) => Promise<Answer>;
  /** Further parameters of each pushed request. */
  readonly form?: Form;
  /** Further headers of the backend's requests, in addition to its credentials. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** `form` replaces members of the pushed request; the rest sets what the user does. */
export type Journey = Partial<DriveConsentOptions> & { readonly form?: Form };

export type Platform = ReturnType<typeof createPlatform>;
export function createPlatform(options: PlatformOptions) {
  const { baseUrl, clientId = "platform", clientSecret, redirectUri = REDIRECT_URI, vendor = "op" } = options;
  const scope = options.scope === null ? undefined : (options.scope ?? SCOPE);
  const sendForm = options.send ?? send;
  const authorization = basic(clientId, clientSecret);
  plantSecret("Basic header", authorization.slice("Basic ".length));

  const post = async (path: string, form: Form, at = baseUrl): Promise<Answer> =>
    sendForm(`${at}${path}`, { method: "POST", headers: { ...options.headers, authorization }, body: encode(form) });

  const parOf = async (form: Form, state: string, codeVerifier: string): Promise<Answer> =>
    post("/v1/par", {
      client_id: clientId,
      response_type: "code",
      vendor,
      redirect_uri: redirectUri,
      code_challenge: challengeOf(codeVerifier),
      code_challenge_method: "S256",
      state,
      scope,
      ...options.form,
      ...form,
    });

  const push = async (form: Form = {}) => {
    const state = random("state");
    const codeVerifier = random("code_verifier");
    const answer = await parOf(form, state, codeVerifier);
    const requestUri = answer.body["request_uri"];
    if (answer.status !== 201 || typeof requestUri !== "string") throw new Error(`/v1/par: ${answer.text}`);
    const handle = requestUri.slice("urn:ietf:params:oauth:request_uri:".length);
    plantSecret("request_uri", handle);
    return { requestUri, flowId: handle.split(".", 1)[0] ?? "", state: form["state"] ?? state, codeVerifier };
  };
  const authorizeUrl = ({ requestUri }: { readonly requestUri: string }): string =>
    `${baseUrl}/v1/authorize?${encode({ client_id: clientId, request_uri: requestUri }).toString()}`;
  const toCallback = async ({ form = {}, ...drive }: Journey = {}) => {
    const pushed = await push(form);
    const jar = drive.cookieJar ?? createCookieJar();
    const stopAt = (url: URL): boolean => url.origin === baseUrl && url.pathname.endsWith("/callback");
    const callback = await driveConsent(authorizeUrl(pushed), { stopAt, ...drive, cookieJar: jar });
    plantSecret("state JWT", callback.searchParams.get("state"));
    plantSecret("vendor's code", callback.searchParams.get("code"));
    plantSecret("cookie", jar.get(new URL(baseUrl), `flow-${pushed.flowId}`));
    return { ...pushed, callback, jar };
  };
  const toPlatform = async (journey: Journey = {}) => {
    const at = await toCallback(journey);
    const answer = await browse(at.callback, at.jar);
    const returned = new URL(answer.headers.get("location") ?? "about:blank");
    const code = returned.searchParams.get("code");
    if (answer.status !== 303 || code === null) throw new Error(`/v1/callback: ${answer.status} ${answer.text}`);
    plantSecret("broker's code", code);
    return { ...at, returned, code };
  };
  const redeemForm = ({ code, codeVerifier }: Redeemable) => {
    return { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: codeVerifier };
  };
  const redeem = async (flow: Redeemable, form: Form = {}): Promise<Answer> =>
    post("/v1/token", { ...redeemForm(flow), ...form });
  return {
    clientId,
    redirectUri,
    /**
     * With Basic credentials.
     * @param at another process of the same broker
     */
    post,
    /** @param form replaces members; `undefined` omits one */
    par: async (form: Form = {}) => parOf(form, random("state"), random("code_verifier")),
    /** @throws Error unless it is accepted */
    push,
    authorizeUrl,
    /** Up to the vendor's redirect to the callback, which is not requested yet. */
    toCallback,
    /** Up to the redirect to the platform. */
    toPlatform,
    redeemForm,
    redeem,
    refresh: async ({ refreshToken, connection }: Granted, form: Form = {}) =>
      post("/v1/token", { grant_type: "refresh_token", refresh_token: refreshToken, connection, ...form }),
    revoke: async (token: string | undefined, { connection }: Pick<Granted, "connection">, form: Form = {}) =>
      post("/v1/revoke", { token, connection, ...form }),
    /**
     * The whole flow.
     * @throws Error without tokens at the end
     */
    async connect(journey: Journey = {}) {
      const flow = await toPlatform(journey);
      const answer = await redeem(flow);
      if (answer.status !== 200) throw new Error(`/v1/token: ${answer.status} ${answer.text}`);
      return { ...readTokens(answer), answer, body: answer.body, flow };
    },
  };
}

/** Plants them. */
export function readTokens({ body }: Answer) {
  for (const name of ["access_token", "refresh_token", "vendor_id_token", "connection"]) {
    if (body[name] !== undefined) plantSecret(name, textMember(body, name));
  }
  return {
    accessToken: textMember(body, "access_token"),
    refreshToken: body["refresh_token"] as string | undefined,
    connection: textMember(body, "connection"),
  };
}

/** One request of a browser: with its cookies, without following redirects. */
export async function browse(url: URL | string, jar: CookieJar = createCookieJar()): Promise<Answer> {
  return readAnswer(await sendWithCookies(fetch, jar, new URL(url), { headers: { accept: "text/html" } }));
}

export async function send(url: URL | string, init: RequestInit = {}): Promise<Answer> {
  return readAnswer(await fetch(url, { redirect: "manual", ...init }));
}

export function basic(clientId: string, clientSecret: string): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64")}`;
}

/** Omits members that are undefined. */
export function encode(form: Form): URLSearchParams {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) if (value !== undefined) encoded.append(name, value);
  return encoded;
}

export function challengeOf(codeVerifier: string): string {
  return createHash("sha256").update(codeVerifier).digest("base64url");
}
