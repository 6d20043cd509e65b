/**
 * What the conformance suite runs against: the fixture as a hosted server with its own callback, on
 * SQLite, in this process or inside an app, with the sandbox's OpenID provider as its vendor, behind
 * the proxy that adds the token of a user who really connected.
 */
import { freePort } from "../support/free-port.ts";
import { authorizeClient } from "../support/mcp/client-oauth.ts";
import { serveInProcess } from "../support/mcp/in-process.ts";
import type { Environment } from "../support/mcp/process.ts";
import { startOpenIdVendor } from "../support/mcp/vendor.ts";
import { temporaryFolder } from "../support/service-process.ts";
import { startBearerProxy } from "./add-bearer.ts";
import { fixture } from "./fixture/server.ts";

/** The suite's `--client-id`. */
export const CLIENT_ID = "conformance";
/** rfc8252#7.3: on loopback the client chooses the port. */
const REDIRECT_URI = "http://127.0.0.1/callback";

const AMONG_OTHERS: Environment = {
  VENDORS: "main,github",
  VENDOR_GITHUB_CLIENT_ID: "never-used",
  VENDOR_GITHUB_CLIENT_SECRET: "never-used",
};

export type Harness = Awaited<ReturnType<typeof openHarness>>;
/**
 * @param vendors `several`: with `VENDORS`, of which one signs users in and no tool needs another
 * @param start starts what serves the fixture, with these variables; default: this process
 */
export async function openHarness({
  vendors = "one",
  start,
}: {
  readonly vendors?: "one" | "several";
  readonly start?: (env: Environment) => Promise<{ stop(): Promise<void> }>;
} = {}) {
  const port = await freePort();
  const proxyPort = await freePort();
  const url = `http://127.0.0.1:${proxyPort}`;
  const vendor = await startOpenIdVendor({
    redirectUris: [`${url}/callback`],
    ...(vendors === "several" && { prefix: "VENDOR_MAIN" }),
  });
  const client = { client_id: CLIENT_ID, client_name: "MCP conformance", redirect_uris: [REDIRECT_URI] };
  const environment = {
    OAUTH_MODE: "hosted",
    OAUTH_CALLBACK: "server",
    DEPLOYMENT_URL: url,
    PORT: String(port),
    DATA_DIR: temporaryFolder(),
    ...vendor.env,
    ...(vendors === "several" && AMONG_OTHERS),
    OAUTH_CLIENTS: JSON.stringify([client]),
    // No client uses one, but the suite warns when the metadata does not offer it.
    OAUTH_CLIENT_METADATA_HOSTS: "client.example",
  };
  const server = await (start?.(environment) ?? serveInProcess(fixture, environment));
  const proxy = await startBearerProxy(proxyPort, port);
  proxy.use(await connect(url));
  return {
    /** The issuer and the base of all URLs. */
    url,
    close: async () => {
      await proxy.close();
      await server.stop();
      await vendor.close();
    },
  };
}

/**
 * The user consents and the client redeems its code.
 * @returns an access token
 */
async function connect(url: string): Promise<string> {
  const known = { registered: { client_id: CLIENT_ID } };
  const consented = { era: "modern", account: "user", callback: REDIRECT_URI, known } as const;
  const { client, tokens } = await authorizeClient(`${url}/mcp`, consented);
  await client.close();
  return tokens.accessToken;
}
