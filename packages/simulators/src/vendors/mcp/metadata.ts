/** The metadata of an MCP server and its authorization server, and the 401 that refers to it. */
import type { Context } from "hono";
import { bearerToken } from "../base/clients.ts";
import type { VendorEnv } from "../base/simulator.ts";
import { json } from "../base/members.ts";
import { AUTH_METHODS, type McpState } from "./rules.ts";

const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

export function serveMetadata(state: McpState): void {
  const { app, url, rules } = state;
  app.get("/.well-known/oauth-authorization-server", () =>
    json({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      revocation_endpoint: `${url}/token`,
      ...(rules.hasIntrospection ? { introspection_endpoint: `${url}/introspect` } : {}),
      scopes_supported: rules.scopes.map(({ scope }) => scope),
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: AUTH_METHODS,
      code_challenge_methods_supported: rules.challengeMethods,
      client_id_metadata_document_supported: true,
      ...(rules.sendsIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
    }),
  );
  for (const [suffix, { path, scopes }] of Object.entries(rules.resources)) {
    const resource = { resource: url + path, authorization_servers: [url], scopes_supported: scopes };
    app.get(RESOURCE_METADATA + suffix, () => json({ ...resource, bearer_methods_supported: ["header"] }));
  }
  for (const [path, suffix] of Object.entries(rules.servers)) {
    app.on(["GET", "POST"], path, (c) => serve(c, state, RESOURCE_METADATA + suffix));
  }
}

/** Stands for the MCP server: returns the user of the token, and no more. */
function serve(c: Context<VendorEnv>, { url, tokens, takeRefusal }: McpState, metadata: string): Response {
  const token = tokens.find(bearerToken(c));
  const isGood = token?.state === "live" && token.kind === "access" && takeRefusal("api") === undefined;
  if (isGood) return json({ user: token.grant.user, scope: token.grant.scopes.join(" ") });
  const challenge = `Bearer realm="OAuth", resource_metadata="${url}${metadata}", error="invalid_token"`;
  return json({ error: "invalid_token" }, 401, { "WWW-Authenticate": challenge });
}
