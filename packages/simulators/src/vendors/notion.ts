/**
 * Notion's MCP authorization server (mcp.notion.com).
 *
 * Seen (recorded discoveries A and B of the vendor facts, the last probed 2026-09-25;
 * NangoHQ/nango@2f4c0af): the endpoints, revocation on the token address, introspection, methods
 * basic, post and none, plain and S256, client documents, scope `default`, resource metadata only at
 * the root and with the bare origin although the server is at /mcp.
 * Assumed: an hour for access tokens; that a used refresh token is dead at once; what is assumed of
 * Linear's token address.
 *
 * Left out: the API app flow (api.notion.com/v1/oauth), whose facts are the entry `notion-api` of
 * the catalogue: no scopes, the person picks pages; Basic and a JSON body. Of it, beside the entry:
 * Seen (https://developers.notion.com/reference/create-a-token, /refresh-a-token, /revoke-token,
 * /introspect-token, read by 2026-11-21): the members of the answer, a refresh_token that may be
 * null, a refresh that gives a new pair, `request_id` on revoke, `active`, `scope` and `iat` on
 * introspect, Notion-Version asked for on those two.
 * Seen (https://nango.dev/blog/notion-oauth-refresh-token-invalid-grant): 400 invalid_grant in
 * OAuth's form on the token call.
 * Recalled: the error object of API calls (`object`, `status`, `code`, `message`, `request_id`) and
 * its codes unauthorized, restricted_resource, validation_error, missing_version, rate_limited;
 * tokens that begin with `ntn_` and `nrt_`.
 * Assumed: a refresh ends the old pair at once; revoking a token ends its pair; one that is gone
 * answers 400.
 */
import type { VendorSimulator } from "./base/host.ts";
import type { RegisteredClient } from "./base/registration.ts";
import type { SimulatorOptions } from "./base/simulator.ts";
import { startMcp } from "./mcp/server.ts";

/** @throws Error of node:net when the port is taken */
export async function startNotion(options: SimulatorOptions = {}): Promise<VendorSimulator<RegisteredClient>> {
  return startMcp({ id: "notion", brand: "Notion" }, options, {
    scopes: [{ scope: "default", text: "Read and change what you can see in your workspace" }],
    challengeMethods: ["plain", "S256"],
    sendsIssuer: false,
    accessLifetimeSeconds: 3600,
    replayWindowSeconds: 0,
    resources: { "": { path: "", scopes: ["default"] } },
    servers: { "/mcp": "" },
    hasIntrospection: true,
  });
}
