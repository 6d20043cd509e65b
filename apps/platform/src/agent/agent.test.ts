import { OAuthError } from "@oauth-broker/oauth-core";
import { expect, it } from "vitest";
import type { Connector } from "../connectors/connector.ts";
import type { Bearers } from "../oauth/bearer.ts";
import { createAgent } from "./agent.ts";

const BEARER = { token: "of-the-user", revision: "1" };
const connector = { id: "c", serverUrl: "https://server.example/mcp" } as Connector;

/**
 * Calls tools of a server that gives every request the same answer.
 * @returns the calls the agent made to Bearers, and its result
 */
async function toolsOf(status: number, challenge: string) {
  const asked: unknown[] = [];
  const over = (what: unknown) => {
    asked.push(what);
    return Promise.reject(new OAuthError("invalid_grant", "The user is to connect again"));
  };
  const bearers: Bearers = {
    bearerFor: async () => BEARER,
    giveUp: () => over("give up"),
    stepUp: (_connector, _userId, { token }, scope) => over({ token, scope }),
  };
  const answer = () => new Response("{}", { status, headers: { "www-authenticate": challenge } });
  const agent = createAgent({ bearers, fetch: async () => answer() });
  const error = await agent.tools(connector, "user").catch((thrown: unknown) => thrown);
  return { asked, code: (error as OAuthError).code };
}

it("rfc6750#3.1 a 403 for want of scope is the user's to remedy, and another is not", async () => {
  const wanted = 'Bearer error="insufficient_scope", scope="files:write"';
  const { asked } = await toolsOf(403, wanted);
  expect(asked).toEqual([{ token: BEARER.token, scope: "files:write" }]);
  expect(await toolsOf(403, "Bearer")).toEqual({ asked: [], code: "vendor_response_invalid" });
  expect((await toolsOf(401, "Bearer")).asked).toEqual(["give up"]);
});
