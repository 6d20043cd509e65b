/** Requests to `/mcp` as they are on the wire, for clients without a library. */
import type { AppRequest } from "../test-app.ts";

const PREFIX = "io.modelcontextprotocol";
const URL_ELICITATION = { elicitation: { url: {} } };

/** A message, and its headers in addition to those of every request. */
export type RawCall = [message: object, headers: Readonly<Record<string, string>>];

/** A call of 2026-07-28. @param capabilities by default those of a client that shows URLs */
export function modernCall(
  name: string,
  params: object = {},
  capabilities: object = URL_ELICITATION,
  id: number = 1,
): RawCall {
  const meta = {
    [`${PREFIX}/protocolVersion`]: "2026-07-28",
    [`${PREFIX}/clientInfo`]: { name: "raw", version: "1" },
    [`${PREFIX}/clientCapabilities`]: capabilities,
  };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
  return [
    { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {}, ...params, _meta: meta } },
    headers,
  ];
}

/** A call of 2025-11-25. */
export function legacyCall(name: string, params: object = {}, id: number = 1): RawCall {
  const message = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {}, ...params } };
  return [message, { "mcp-protocol-version": "2025-11-25" }];
}

/** `initialize` of 2025-11-25. */
export function initialize(capabilities: object = URL_ELICITATION): object {
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
  return { jsonrpc: "2.0", id: 0, method: "initialize", params };
}

/** As a client of either revision sends it. */
export function rawRequest(bearer: string, message: object | string, headers: RawCall[1] = {}): Required<AppRequest> {
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${bearer}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
  };
}
