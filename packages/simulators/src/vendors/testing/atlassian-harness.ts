/** An MCP client and a 3LO app at the simulated Atlassian, and their requests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startAtlassian } from "../atlassian.ts";
import { flowOf } from "./flow.ts";
import { CALLBACK, postJson } from "./http.ts";

export const REST_APP = { client_id: "rest-app", client_secret: "a secret of the app" };

export type AtlassianHarness = Awaited<ReturnType<typeof startAtlassianHarness>>;

export async function startAtlassianHarness() {
  const now = fixedClock(1_700_000_000);
  const atlassian = await startAtlassian({ now });
  const { client_id: clientId, client_secret: clientSecret } = REST_APP;
  atlassian.addClient({ clientId, clientSecret, redirectUris: [CALLBACK] });
  const register = (metadata: object = {}) =>
    postJson(atlassian.endpoints["registration_endpoint"]!, {
      redirect_uris: [CALLBACK],
      client_name: "A tool",
      token_endpoint_auth_method: "none",
      ...metadata,
    });
  const registered = (await register()).body;
  const mcp = flowOf(atlassian.endpoints, {
    asked: { scope: "offline_access read:me read:jira-work", resource: atlassian.mcpServer },
    credentials: { client_id: String(registered["client_id"]) },
  });
  const rest = flowOf(atlassian.restEndpoints, {
    asked: { scope: "read:me read:jira-work offline_access", audience: "api.atlassian.com", prompt: "consent" },
    credentials: REST_APP,
    send: postJson,
  });
  return { atlassian, now, register, mcp, rest };
}
