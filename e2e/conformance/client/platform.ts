/**
 * The platform as the client of a scenario about authorization: its agent makes the calls, its
 * connect flow runs when the user has to consent, and all of OAuth between the first 401 and the
 * token is its own code. Caller: play.ts.
 */
import { type Fetch, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { createAgent } from "@oauth-broker/platform/src/agent/agent.ts";
import type { Connector } from "@oauth-broker/platform/src/connectors/connector.ts";
import { createBearers } from "@oauth-broker/platform/src/oauth/bearer.ts";
import { type ConnectDeps, finishConnect, startConnect } from "@oauth-broker/platform/src/oauth/connect.ts";
import { openTestConnect, signedIn } from "@oauth-broker/platform/src/testing/test-connect.ts";

/** First for a token, again for more scope, and once more when the authorization server changed. */
const MAX_CONSENTS = 3;
const USER = "first-user";
/** Never fetched: the suite checks only the client_id. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";

/** What the suite says of a scenario. */
export interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

/**
 * @param context has the client that an administrator enters when the platform must not register
 * @throws what made the client stop
 */
export async function playAsPlatform(scenario: string, url: string, context: Context): Promise<void> {
  const { client_id: known, client_secret: clientSecret } = context;
  // To the platform the URL of its metadata is a client id like any other: it is entered.
  const clientId = scenario === "auth/basic-cimd" ? CLIENT_METADATA_URL : known;
  const platform = await openTestConnect();
  const deps: ConnectDeps = { ...platform, foreignAuthorizationServers: true, fetch: completed(platform.fetch) };
  const bearers = createBearers({ ...deps, platformToken: async () => new Secret("") });
  const agent = createAgent({ bearers, fetch: deps.fetch });
  try {
    const settings = { authentication: "oauth_2_1", registration: "hosted_server" } as const;
    const client = { ...(clientId && { clientId }), ...(clientSecret && { clientSecret: new Secret(clientSecret) }) };
    const connector = await platform.addConnector("conformance", { ...settings, ...client }, url);
    const use = async (): Promise<void> => {
      // One after the other: scenarios check the order of requests.
      for (const { name } of await agent.tools(connector, USER))
        await agent.call(connector, USER, { tool: name, input: {} });
    };
    for (let consents = 0; ; consents += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        await use();
        return;
      } catch (error) {
        if (consents === MAX_CONSENTS || !isForTheUser(error)) throw error;
        // oxlint-disable-next-line no-await-in-loop
        await connect(connector, deps);
      }
    }
  } finally {
    await platform.close();
  }
}

/** Connect on the connector's page, the consent, and the callback. */
async function connect(connector: Connector, deps: ConnectDeps): Promise<void> {
  const user = signedIn(USER);
  const back = await consent(await startConnect(connector, user, deps));
  const { failure } = await finishConnect(back.href, user, deps);
  if (failure !== undefined) throw new Error(`${failure.error}: ${failure.description}`);
}

/** @returns the redirect of the authorization server: the suite's asks the user nothing */
async function consent(authorizationUrl: string): Promise<URL> {
  const answer = await fetch(authorizationUrl, { redirect: "manual" });
  const location = answer.headers.get("location");
  if (location === null) throw new Error(`the authorization endpoint answers ${answer.status}`);
  return new URL(location);
}

const isForTheUser = (error: unknown): boolean => error instanceof OAuthError && error.code === "invalid_grant";

/**
 * The suite's authorization server omits `client_secret_expires_at` when it registers a client with
 * a secret, although it is required (RFC 7591 section 3.2.1), and the platform refuses that. This
 * adds the value "never".
 */
function completed(fetch: Fetch): Fetch {
  return async (url, init) => {
    const answer = await fetch(url, init);
    if (answer.status !== 201) return answer;
    const client = (await answer.json()) as Record<string, unknown>;
    return Response.json({ client_secret_expires_at: 0, ...client }, { status: 201 });
  };
}
