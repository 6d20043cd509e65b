/** An MCP client and a 3LO app at the simulated Atlassian, and their requests. */
import type { DriveConsentOptions } from "../../drive-consent.ts";
import { startAtlassian, type AtlassianSimulator } from "../atlassian.ts";
import { CALLBACK, goThrough, pkcePair, postForm, postJson, withQuery, type Answer } from "./raw-http.ts";

type Query = Readonly<Record<string, string | undefined>>;
type Form = Readonly<Record<string, string>>;

export const REST_APP = { client_id: "rest-app", client_secret: "a secret of the app" };

export interface AtlassianHarness {
  readonly atlassian: AtlassianSimulator;
  advance(seconds: number): void;
  register(metadata?: Readonly<Record<string, unknown>>): Promise<Answer>;
  mcp: AtlassianFlow;
  rest: AtlassianFlow;
}

export interface AtlassianFlow {
  readonly verifier: string;
  authorizeUrl(query?: Query): URL;
  redeem(code: string | undefined, members?: Form): Promise<Answer>;
  refresh(refreshToken: unknown, members?: Form): Promise<Answer>;
  /** @throws Error when no tokens are issued */
  connect(query?: Query, options?: Omit<DriveConsentOptions, "stopAt">): Promise<Record<string, unknown>>;
}

export async function startAtlassianHarness(): Promise<AtlassianHarness> {
  let now = 1_700_000_000;
  const atlassian = await startAtlassian({ now: () => now });
  const { client_id: clientId, client_secret: clientSecret } = REST_APP;
  atlassian.addClient({ clientId, clientSecret, redirectUris: [CALLBACK] });
  const register: AtlassianHarness["register"] = (metadata) =>
    postJson(atlassian.endpoints["registration_endpoint"]!, {
      redirect_uris: [CALLBACK],
      client_name: "A tool",
      token_endpoint_auth_method: "none",
      ...metadata,
    });
  const { body } = await register();
  const [mcpPair, restPair] = [pkcePair(), pkcePair()];
  const mcp = flow(
    {
      ...base(String(body?.["client_id"]), "offline_access read:me read:jira-work"),
      code_challenge: mcpPair.challenge,
      code_challenge_method: "S256",
      resource: atlassian.mcpServer,
    },
    (members) => postForm(atlassian.endpoints["token_endpoint"]!, members),
    { client_id: String(body?.["client_id"]), code_verifier: mcpPair.verifier },
  );
  const rest = flow(
    {
      ...base(clientId, "read:me read:jira-work offline_access"),
      code_challenge: restPair.challenge,
      code_challenge_method: "S256",
      audience: "api.atlassian.com",
      prompt: "consent",
    },
    (members) => postJson(atlassian.restEndpoints["token_endpoint"]!, members),
    { ...REST_APP, code_verifier: restPair.verifier },
  );
  const advance = (seconds: number) => {
    now += seconds;
  };
  return { atlassian, advance, register, mcp, rest };

  function base(id: string, scope: string): Query {
    return { client_id: id, redirect_uri: CALLBACK, response_type: "code", scope, state: "s1" };
  }

  function flow(asked: Query, token: (members: Form) => Promise<Answer>, credentials: Form): AtlassianFlow {
    const { code_verifier: verifier = "", ...client } = credentials;
    const made: AtlassianFlow = {
      verifier,
      authorizeUrl: (query) => withQuery(atlassian.endpoints["authorization_endpoint"]!, { ...asked, ...query }),
      redeem(code, members) {
        const bound = { code: code ?? "", code_verifier: verifier, redirect_uri: CALLBACK };
        return token({ grant_type: "authorization_code", ...client, ...bound, ...members });
      },
      refresh: (refreshToken, members) =>
        token({ grant_type: "refresh_token", refresh_token: String(refreshToken), ...client, ...members }),
      async connect(query, options) {
        const callback = await goThrough(made.authorizeUrl(query), options);
        const { status, body: tokens } = await made.redeem(callback["code"]);
        if (status !== 200 || tokens === undefined) throw new Error(`The token endpoint answered ${status}`);
        return tokens;
      },
    };
    return made;
  }
}
