/** One multitenant app at the simulated Microsoft, and its requests. */
import type { DriveConsentOptions } from "../../drive-consent.ts";
import { startMicrosoftAgent365, type MicrosoftSimulator } from "../microsoft.ts";
import { bearer, CALLBACK, goThrough, pkcePair, postForm, postJson, withQuery, type Answer } from "./raw-http.ts";

type Query = Readonly<Record<string, string | undefined>>;
type Form = Readonly<Record<string, string>>;

export const MICROSOFT_CLIENT = {
  client_id: "cccccccc-0000-4000-8000-000000000003",
  client_secret: "a secret of the app",
};
export const MAIL = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1/McpServers.Mail.All";

export interface MicrosoftHarness {
  readonly microsoft: MicrosoftSimulator;
  readonly verifier: string;
  advance(seconds: number): void;
  now(): number;
  authorizeUrl(query?: Query, tenant?: string): URL;
  token(form: Form, tenant?: string, headers?: Form): Promise<Answer>;
  redeem(code: string | undefined, form?: Form, tenant?: string): Promise<Answer>;
  refresh(refreshToken: unknown, form?: Form, tenant?: string): Promise<Answer>;
  /** @throws Error when no tokens are issued */
  connect(
    query?: Query,
    options?: Omit<DriveConsentOptions, "stopAt">,
    tenant?: string,
  ): Promise<Record<string, unknown>>;
  /** Calls the mail server of the first tenant's first environment. */
  call(accessToken: unknown, environmentId?: string, serverName?: string): Promise<Answer>;
}

export async function startMicrosoftHarness(): Promise<MicrosoftHarness> {
  let now = 1_700_000_000;
  const microsoft = await startMicrosoftAgent365({ now: () => now });
  const { client_id: clientId, client_secret: clientSecret } = MICROSOFT_CLIENT;
  microsoft.addClient({ clientId, clientSecret, redirectUris: [CALLBACK], name: "A tool" });
  const { verifier, challenge } = pkcePair();
  const [tenant] = microsoft.settings.tenants;
  const harness: MicrosoftHarness = {
    microsoft,
    verifier,
    advance(seconds) {
      now += seconds;
    },
    now: () => now,
    authorizeUrl: (query, path = "organizations") =>
      withQuery(microsoft.endpointsOf(path)["authorization_endpoint"]!, {
        client_id: clientId,
        redirect_uri: CALLBACK,
        response_type: "code",
        response_mode: "query",
        scope: `openid profile offline_access ${MAIL}`,
        state: "s1",
        nonce: "n1",
        code_challenge: challenge,
        code_challenge_method: "S256",
        ...query,
      }),
    token: (form, path = "organizations", headers = {}) =>
      postForm(microsoft.endpointsOf(path)["token_endpoint"]!, form, headers),
    redeem(code, form, path) {
      const bound = { code: code ?? "", code_verifier: verifier, redirect_uri: CALLBACK, ...MICROSOFT_CLIENT };
      return harness.token({ grant_type: "authorization_code", ...bound, ...form }, path);
    },
    refresh(refreshToken, form, path) {
      const shown = { refresh_token: String(refreshToken), ...MICROSOFT_CLIENT };
      return harness.token({ grant_type: "refresh_token", ...shown, ...form }, path);
    },
    async connect(query, options, path) {
      const callback = await goThrough(harness.authorizeUrl(query, path), options);
      const { status, body } = await harness.redeem(callback["code"], {}, path);
      if (status !== 200 || body === undefined) throw new Error(`The token endpoint answered ${status}`);
      return body;
    },
    call: (accessToken, environmentId = tenant!.environments[0]!, serverName = "mcp_MailTools") =>
      postJson(microsoft.mcpServer(environmentId, serverName), { id: 1 }, bearer(accessToken)),
  };
  return harness;
}
