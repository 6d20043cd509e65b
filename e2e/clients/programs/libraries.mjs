/**
 * Each library as its documentation connects it to a remote server with OAuth. A function gets the
 * server's address and a folder, and returns `tools()` (names) and `call(name)`.
 */
import { connectOrSignIn, createProvider, textOf } from "./kit.mjs";

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
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name) => {
      const answer = await client.callTool({ name, arguments: {} });
      return { text: textOf(answer), isError: answer.isError === true };
    },
  };
}

export const LIBRARIES = {
  "sdk-1.13": (mcp, folder) => firstSdk("sdk-1.13", mcp, folder),
  "sdk-1.32": (mcp, folder) => firstSdk("sdk-1.32", mcp, folder),
  "sdk-2": async (mcp, folder) => {
    const sdk = await import("@modelcontextprotocol/client");
    return withSdk(sdk, mcp, folder, { versionNegotiation: { mode: "auto" } }, (back) => back);
  },
};
