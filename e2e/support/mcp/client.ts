/**
 * A stock MCP client that sends a bearer token, in either protocol era, and the bare request
 * beneath it.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { request } from "undici";

/** `modern` asks which era the server supports, `legacy` is a client of 2025. */
export const ERAS = ["modern", "legacy"] as const;
export type Era = (typeof ERAS)[number];

export async function connectClient(mcp: string, token: string, era: Era = "modern"): Promise<Client> {
  const client = createClient(era);
  const transport = new StreamableHTTPClientTransport(new URL(mcp), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return client;
}

export function createClient(era: Era = "modern", options: ConstructorParameters<typeof Client>[1] = {}): Client {
  const negotiation = era === "modern" ? { versionNegotiation: { mode: "auto" as const } } : {};
  return new Client({ name: "scenario", version: "1.0.0" }, { ...options, ...negotiation });
}

export type ToolAnswer = Awaited<ReturnType<typeof callTool>>;
/** @returns `value`: the text as JSON, if the tool gave an answer */
export async function callTool(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: input });
  const [{ text = "" } = {}] = content as readonly { readonly text?: string }[];
  return { isError, text, value: isError ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>) };
}

const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami", arguments: {} } };
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
};

/**
 * At another process of the deployment, as a load balancer would route it: under the deployment's
 * name.
 */
async function postAt(
  { port, url }: { readonly port: string; readonly url: string },
  path: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) {
  // The global fetch cannot set the Host.
  const all = { ...headers, host: new URL(url).host };
  const answer = await request(`http://127.0.0.1:${port}${path}`, { method: "POST", headers: all, body });
  const retryAfter = answer.headers["retry-after"];
  return {
    status: answer.statusCode,
    headers: new Headers(typeof retryAfter === "string" ? { "retry-after": retryAfter } : {}),
    text: await answer.body.text(),
  };
}

export async function postWhoamiAt(port: string, { url }: { readonly url: string }, token: string) {
  const headers = { ...HEADERS, authorization: `Bearer ${token}` };
  return postAt({ port, url }, "/mcp", { headers, body: JSON.stringify(CALL) });
}

/** One `whoami` without the handshake: only the status matters. */
export async function postWhoami(mcp: string, token: string | undefined, init: RequestInit = {}) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { ...HEADERS, ...authorization, ...(init.headers as Record<string, string> | undefined) };
  const answer = await fetch(mcp, { method: "POST", body: JSON.stringify(CALL), ...init, headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
