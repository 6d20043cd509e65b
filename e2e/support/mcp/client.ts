/**
 * A stock MCP client that sends a bearer token, in either protocol era, and the bare request
 * beneath it.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { request } from "undici";
import { legacyCall, rawRequest } from "../../../packages/mcp-auth/src/testing/linking/raw-calls.ts";

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

/** One `whoami` without the handshake, of a client of 2025. */
const whoami = (token: string) => rawRequest(token, ...legacyCall("whoami"));

/**
 * At another process of the deployment, as a load balancer would route it: under the deployment's
 * name.
 */
export async function postWhoamiAt(port: string, { url }: { readonly url: string }, token: string) {
  // The global fetch cannot set the Host.
  const { headers, body } = whoami(token);
  const call = { method: "POST", headers: { ...headers, host: new URL(url).host }, body: body as string };
  const answer = await request(`http://127.0.0.1:${port}/mcp`, call);
  return { status: answer.statusCode, text: await answer.body.text() };
}

/** Only the status matters. */
export async function postWhoami(mcp: string, token: string | undefined, init: RequestInit = {}) {
  const { headers, ...call } = whoami(token ?? "");
  const own = { ...headers, ...(init.headers as Record<string, string> | undefined) };
  if (token === undefined) delete own["authorization"];
  const answer = await fetch(mcp, { ...call, ...init, headers: own });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
