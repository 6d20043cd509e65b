/** An MCP client at the simulated Atlassian, and its requests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startAtlassian } from "../atlassian.ts";
import { flowOf } from "./flow.ts";
import { CALLBACK, postJson } from "./http.ts";

export type AtlassianHarness = Awaited<ReturnType<typeof startAtlassianHarness>>;

export async function startAtlassianHarness() {
  const now = fixedClock(1_700_000_000);
  const atlassian = await startAtlassian({ now });
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
  return { atlassian, now, register, mcp };
}
