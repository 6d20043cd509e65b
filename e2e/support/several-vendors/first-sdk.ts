/**
 * The client of the SDK's first generation, unchanged, which implements 2025-11-25. The conformance
 * suite depends on it; our code does not.
 */
import { createRequire } from "node:module";

/** What it throws for a call that needs its user. */
export interface FirstError {
  readonly code: number;
  readonly elicitations: readonly { readonly mode: string; readonly url: string }[];
}

export interface FirstClient {
  connect(transport: object): Promise<void>;
  callTool(
    call: object,
  ): Promise<{ readonly isError?: boolean; readonly content: readonly { readonly text: string }[] }>;
  close(): Promise<void>;
}

export interface FirstTransport {
  readonly sessionId?: string;
  terminateSession(): Promise<void>;
}

interface FirstSdk {
  readonly Client: new (info: object, options: object) => FirstClient;
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => FirstTransport;
}

const ofSuite = createRequire(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"));
const load = (path: string): Partial<FirstSdk> => ofSuite(`@modelcontextprotocol/sdk/client/${path}.js`);

/** @returns a connected client; by default one that declared that it shows URLs */
export async function connectFirstClient(
  mcp: string,
  token: string,
  capabilities: object = { elicitation: { url: {} } },
): Promise<{ readonly client: FirstClient; readonly transport: FirstTransport }> {
  const { Client, StreamableHTTPClientTransport } = { ...load("index"), ...load("streamableHttp") } as FirstSdk;
  const client = new Client({ name: "first", version: "1" }, { capabilities });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(mcp), { requestInit });
  await client.connect(transport);
  return { client, transport };
}
