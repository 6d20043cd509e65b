/** One app at the simulated Google, and its requests. */
import type { DriveConsentOptions } from "../../drive-consent.ts";
import { startGoogleWorkspace, type GoogleSimulator } from "../google.ts";
import { bearer, CALLBACK, goThrough, pkcePair, postForm, postJson, withQuery, type Answer } from "./raw-http.ts";

export const GMAIL = "https://www.googleapis.com/auth/gmail.readonly";
export const DRIVE = "https://www.googleapis.com/auth/drive.readonly";
export const GOOGLE_CLIENT = { client_id: "google-app", client_secret: "a secret of the app" };

type Query = Readonly<Record<string, string | undefined>>;
type Form = Readonly<Record<string, string>>;

export interface GoogleHarness {
  readonly google: GoogleSimulator;
  readonly verifier: string;
  advance(seconds: number): void;
  now(): number;
  authorizeUrl(query?: Query): URL;
  token(form: Form, headers?: Form): Promise<Answer>;
  redeem(code: string | undefined, form?: Form): Promise<Answer>;
  refresh(refreshToken: unknown, form?: Form): Promise<Answer>;
  /** @throws Error when no tokens are issued */
  connect(query?: Query, options?: Omit<DriveConsentOptions, "stopAt">): Promise<Record<string, unknown>>;
  call(accessToken: unknown, product?: string, body?: object): Promise<Answer>;
}

export async function startGoogleHarness(): Promise<GoogleHarness> {
  let now = 1_700_000_000;
  const google = await startGoogleWorkspace({ now: () => now });
  const { client_id: clientId, client_secret: clientSecret } = GOOGLE_CLIENT;
  google.addClient({ clientId, clientSecret, redirectUris: [CALLBACK] });
  const { verifier, challenge } = pkcePair();
  const harness: GoogleHarness = {
    google,
    verifier,
    advance(seconds) {
      now += seconds;
    },
    now: () => now,
    authorizeUrl: (query) =>
      withQuery(google.endpoints["authorization_endpoint"]!, {
        client_id: clientId,
        redirect_uri: CALLBACK,
        response_type: "code",
        scope: `openid email ${GMAIL} ${DRIVE}`,
        state: "s1",
        nonce: "n1",
        access_type: "offline",
        prompt: "consent",
        code_challenge: challenge,
        code_challenge_method: "S256",
        ...query,
      }),
    token: (form, headers) => postForm(google.endpoints["token_endpoint"]!, form, headers),
    redeem(code, form) {
      const asked = { code: code ?? "", code_verifier: verifier, redirect_uri: CALLBACK, ...GOOGLE_CLIENT };
      return harness.token({ grant_type: "authorization_code", ...asked, ...form });
    },
    refresh: (refreshToken, form) =>
      harness.token({ grant_type: "refresh_token", refresh_token: String(refreshToken), ...GOOGLE_CLIENT, ...form }),
    async connect(query, options) {
      const callback = await goThrough(harness.authorizeUrl(query), options);
      const { status, body } = await harness.redeem(callback["code"]);
      if (status !== 200 || body === undefined) throw new Error(`The token endpoint answered ${status}`);
      return body;
    },
    call: (accessToken, product = "gmail", body = { id: 1, method: "tools/call" }) =>
      postJson(google.mcpServer(product), body, bearer(accessToken)),
  };
  return harness;
}
