/** One multitenant app at the simulated Microsoft, and its requests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { MicrosoftTenant } from "../microsoft-settings.ts";
import { startMicrosoftAgent365 } from "../microsoft.ts";
import { flowOf } from "./flow.ts";
import { bearer, CALLBACK, postJson } from "./http.ts";

export const MICROSOFT_CLIENT = {
  client_id: "cccccccc-0000-4000-8000-000000000003",
  client_secret: "a secret of the app",
};
export const MAIL = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1/McpServers.Mail.All";

export type MicrosoftHarness = Awaited<ReturnType<typeof startMicrosoftHarness>>;

/** With the flow of `organizations`; `at` has that of a tenant, or of `common`. */
export async function startMicrosoftHarness() {
  const now = fixedClock(1_700_000_000);
  const microsoft = await startMicrosoftAgent365({ now });
  const { client_id: clientId, client_secret: clientSecret } = MICROSOFT_CLIENT;
  microsoft.addClient({ clientId, clientSecret, redirectUris: [CALLBACK], name: "A tool" });
  const [ready, other] = microsoft.settings.tenants as [MicrosoftTenant, MicrosoftTenant];
  const asked = { response_mode: "query", scope: `openid profile offline_access ${MAIL}`, nonce: "n1" };
  const at = (path: string) => flowOf(microsoft.endpointsOf(path), { asked, credentials: MICROSOFT_CLIENT });
  return {
    ...at("organizations"),
    microsoft,
    /** The tenant whose administrator has consented, and the one whose administrator has not. */
    ready,
    other,
    now,
    at,
    call: (accessToken: unknown, environmentId = ready.environments[0]!, serverName = "mcp_MailTools") =>
      postJson(microsoft.mcpServer(environmentId, serverName), { id: 1 }, bearer(accessToken)),
  };
}
