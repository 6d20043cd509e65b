/**
 * Each library as its documentation connects it to a remote server with OAuth. A function gets the
 * server's address and a folder, and returns `tools()` (names) and `call(name)`.
 */
import { answerOf, connectOrSignIn, createProvider, ofSdk } from "./kit.mjs";

const INFO = { name: "clients-matrix", version: "1.0.0" };

/** The SDK's first generation, which most clients of 2025 are made with. */
async function firstSdk(name, mcp, folder) {
  const { Client } = await import(`${name}/client/index.js`);
  const { StreamableHTTPClientTransport } = await import(`${name}/client/streamableHttp.js`);
  return withSdk({ Client, StreamableHTTPClientTransport }, mcp, folder, {}, (back) => back.get("code"));
}

async function withSdk({ Client, StreamableHTTPClientTransport }, mcp, folder, options, given) {
  const authProvider = await createProvider(folder, INFO);
  let transport;
  const client = await connectOrSignIn(
    authProvider,
    async () => {
      transport = new StreamableHTTPClientTransport(new URL(mcp), { authProvider });
      const one = new Client(INFO, options);
      await one.connect(transport);
      return one;
    },
    (back) => transport.finishAuth(given(back)),
  );
  return ofSdk(client);
}

/** Libraries that take an OAuthClientProvider, and leave the redemption to the SDK's `auth`. */
async function withProvider(mcp, folder, connect, redeem = redeemWithSdk) {
  const authProvider = await createProvider(folder, INFO);
  return connectOrSignIn(
    authProvider,
    () => connect(authProvider),
    (back) => redeem(authProvider, mcp, back),
  );
}

async function redeemWithSdk(authProvider, serverUrl, back) {
  const { auth } = await import("sdk-1.32/client/auth.js");
  await auth(authProvider, { serverUrl, authorizationCode: back.get("code") });
}

const named = (name, tools) => tools.find((tool) => tool.name === name);
const ofGeneration = (name) => [name, (mcp, folder) => firstSdk(name, mcp, folder)];

export const LIBRARIES = {
  ...Object.fromEntries(["sdk-1.13", "sdk-1.17", "sdk-1.20", "sdk-1.25", "sdk-1.32"].map(ofGeneration)),
  "sdk-2": async (mcp, folder) => {
    const sdk = await import("@modelcontextprotocol/client");
    return withSdk(sdk, mcp, folder, { versionNegotiation: { mode: "auto" } }, (back) => back);
  },
  "ai-sdk": async (mcp, folder) => {
    const { auth, createMCPClient } = await import("@ai-sdk/mcp");
    const redeem = (provider, serverUrl, back) =>
      auth(provider, {
        serverUrl,
        authorizationCode: back.get("code"),
        callbackState: back.get("state"),
        callbackIssuer: back.get("iss"),
      });
    const connect = (authProvider) => createMCPClient({ transport: { type: "http", url: mcp, authProvider } });
    const client = await withProvider(mcp, folder, connect, redeem);
    const call = async (tool) => answerOf(await tool.execute({}, { messages: [], toolCallId: "1" }));
    return {
      tools: async () => Object.keys(await client.tools()),
      call: async (name) => call((await client.tools())[name]),
    };
  },
  langchain: async (mcp, folder) => {
    const { MultiServerMCPClient } = await import("@langchain/mcp-adapters");
    const tools = await withProvider(mcp, folder, (authProvider) =>
      new MultiServerMCPClient({ mcpServers: { server: { transport: "http", url: mcp, authProvider } } }).getTools(),
    );
    return {
      tools: () => tools.map(({ name }) => name),
      call: async (name) => answerOf(await named(name, tools).invoke({})),
    };
  },
  mastra: async (mcp, folder) => {
    const { MCPClient } = await import("@mastra/mcp");
    let client;
    const tools = await withProvider(mcp, folder, async (authProvider) => {
      await client?.disconnect();
      client = new MCPClient({ id: crypto.randomUUID(), servers: { server: { url: new URL(mcp), authProvider } } });
      const listed = await client.listTools();
      if (Object.keys(listed).length === 0) throw new Error("no tools");
      return listed;
    });
    return {
      tools: () => Object.keys(tools).map((name) => name.replace(/^server_/, "")),
      call: async (name) => answerOf(await tools[`server_${name}`].execute({}, {})),
    };
  },
  "openai-agents": async (mcp, folder) => {
    const { MCPServerStreamableHttp } = await import("@openai/agents");
    const server = await withProvider(mcp, folder, async (authProvider) => {
      const one = new MCPServerStreamableHttp({ url: mcp, name: "server", authProvider });
      await one.connect();
      return one;
    });
    return {
      tools: async () => (await server.listTools()).map(({ name }) => name),
      call: async (name) => answerOf(await server.callTool(name, {})),
    };
  },
  strands: async (mcp, folder) => {
    const { McpClient } = await import("@strands-agents/sdk");
    let tools;
    const client = await withProvider(mcp, folder, async (authProvider) => {
      const one = new McpClient({ url: mcp, authProvider });
      tools = await one.listTools();
      return one;
    });
    return {
      tools: () => tools.map(({ name }) => name),
      call: async (name) => answerOf(await client.callTool(named(name, tools), {})),
    };
  },
};
