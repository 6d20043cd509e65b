/**
 * Linear's MCP authorization server (mcp.linear.app).
 *
 * Seen (recorded discoveries A, B and C of the vendor facts, the last probed 2026-09;
 * NangoHQ/nango@2f4c0af): the endpoints, revocation on the token address, methods basic, post and
 * none, S256 only, client documents, scopes read and write, resource metadata at the root and with
 * the path, a read-only twin, `iss` on the callback. Seen
 * (https://linear.app/developers/oauth-2-0-authentication, read 2026-11-21): refresh tokens for
 * everyone since 2026-04-01. Recalled: 24 hours; for 30 minutes a used refresh token answers the
 * same pair. Assumed: that the MCP server shares these two with the app flow; how it distinguishes
 * a revocation from a token request (no `grant_type`); a code that comes twice ends its grant.
 */
import type { VendorSimulator } from "./base/host.ts";
import type { RegisteredClient } from "./base/registration.ts";
import type { SimulatorOptions } from "./base/simulator.ts";
import { startMcp } from "./mcp/server.ts";

export interface LinearOptions extends SimulatorOptions {
  /** Default 1800; 0 for a server that refuses every replay. */
  readonly replayWindowSeconds?: number;
  /** Default false, as Linear's. The sandbox has it, so that a check there has an answer. */
  readonly hasIntrospection?: boolean;
}

/** @throws Error of node:net when the port is taken */
export async function startLinear({
  replayWindowSeconds = 1800,
  hasIntrospection = false,
  ...options
}: LinearOptions = {}): Promise<VendorSimulator<RegisteredClient>> {
  return startMcp({ id: "linear", brand: "Linear" }, options, {
    scopes: [
      { scope: "read", text: "Read issues, projects and teams" },
      { scope: "write", text: "Change issues, projects and comments" },
    ],
    challengeMethods: ["S256"],
    sendsIssuer: true,
    accessLifetimeSeconds: 24 * 3600,
    replayWindowSeconds,
    resources: {
      "": { path: "/mcp", scopes: ["read", "write"] },
      "/mcp": { path: "/mcp", scopes: ["read", "write"] },
      "/mcp/readonly": { path: "/mcp/readonly", scopes: ["read"] },
    },
    servers: { "/mcp": "/mcp", "/mcp/readonly": "/mcp/readonly" },
    hasIntrospection,
  });
}
