/** One multitenant app at the simulated Microsoft, and its requests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startMicrosoftAgent365, type MicrosoftSimulator } from "../microsoft.ts";
import { type Flow, flowOf } from "./flow.ts";
import { type Answer, bearer, CALLBACK, postJson } from "./http.ts";

export const MICROSOFT_CLIENT = {
  client_id: "cccccccc-0000-4000-8000-000000000003",
  client_secret: "a secret of the app",
};
export const MAIL = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1/McpServers.Mail.All";

/** The flow of `organizations`. */
export interface MicrosoftHarness extends Flow {
  readonly microsoft: MicrosoftSimulator;
  readonly now: ReturnType<typeof fixedClock>;
  /** The flow at another path: a tenant's, or `common`. */
  at(tenant: string): Flow;
  /** Calls the mail server of the first tenant's first environment. */
  call(accessToken: unknown, environmentId?: string, serverName?: string): Promise<Answer>;
}

export async function startMicrosoftHarness(): Promise<MicrosoftHarness> {
  const now = fixedClock(1_700_000_000);
  const microsoft = await startMicrosoftAgent365({ now });
  const { client_id: clientId, client_secret: clientSecret } = MICROSOFT_CLIENT;
  microsoft.addClient({ clientId, clientSecret, redirectUris: [CALLBACK], name: "A tool" });
  const [tenant] = microsoft.settings.tenants;
  const asked = { response_mode: "query", scope: `openid profile offline_access ${MAIL}`, nonce: "n1" };
  const at = (path: string): Flow => flowOf(microsoft.endpointsOf(path), { asked, credentials: MICROSOFT_CLIENT });
  return {
    ...at("organizations"),
    microsoft,
    now,
    at,
    call: (accessToken, environmentId = tenant!.environments[0]!, serverName = "mcp_MailTools") =>
      postJson(microsoft.mcpServer(environmentId, serverName), { id: 1 }, bearer(accessToken)),
  };
}
