/**
 * The template in hosted mode with its own callback, at the OpenID provider: for tests with
 * browsers and with stock clients.
 */
import { randomBytes } from "node:crypto";
import { type OpenIdProvider, startOpenIdProvider } from "@oauth-broker/simulators";
import { freePort } from "../free-port.ts";
import { type Environment, type McpServer, startMcpServer } from "./process.ts";
import { OUR_CLIENT } from "./vendor.ts";
import { challengeOf } from "../broker/platform.ts";
import { plantSecret } from "../secrets.ts";

/** The verifier of `authorizeUrl`'s challenge. */
export const VERIFIER = "v".repeat(43);

export interface ServerCallbackHarness {
  /** The process that runs now. */
  readonly server: McpServer;
  readonly provider: OpenIdProvider;
  /** Where a client sends its user. */
  authorizeUrl(wishes: Readonly<Record<string, string>>): string;
  /** Stops the process and starts another in its folder. */
  restart(): Promise<void>;
  /**
   * Stops the process.
   * @throws Error as ServiceProcess.stop
   */
  close(): Promise<void>;
}

/** @param env gets the server's base URL; sets which clients may connect */
export async function startServerCallback(env: (baseUrl: string) => Environment): Promise<ServerCallbackHarness> {
  const port = String(await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const clientSecret = `vendor-secret-${randomBytes(16).toString("hex")}`;
  plantSecret("client secret at the vendor", clientSecret);
  const provider = await startOpenIdProvider({
    clients: [{ clientId: OUR_CLIENT, clientSecret, redirectUris: [`${baseUrl}/callback`], clientName: "MCP server" }],
  });
  const environment = {
    OAUTH_MODE: "hosted",
    OAUTH_CALLBACK: "server",
    DEPLOYMENT_URL: baseUrl,
    PORT: port,
    VENDOR: "sandbox-op",
    VENDOR_ISSUER: provider.issuer,
    VENDOR_CLIENT_ID: OUR_CLIENT,
    VENDOR_CLIENT_SECRET: clientSecret,
    VENDOR_SCOPES: "openid profile offline_access",
    EGRESS_ALLOW_LOOPBACK: "true",
    ...env(baseUrl),
  };
  let server = await startMcpServer(environment);
  return {
    get server() {
      return server;
    },
    provider,
    authorizeUrl: (wishes) => {
      const asked = new URLSearchParams({
        response_type: "code",
        code_challenge: challengeOf(VERIFIER),
        code_challenge_method: "S256",
        state: "of-the-client",
        ...wishes,
      });
      return `${baseUrl}/authorize?${asked.toString()}`;
    },
    restart: async () => {
      await server.stop();
      server = await startMcpServer(environment, server.folder);
    },
    close: async () => {
      try {
        await server.stop();
      } finally {
        await provider.close();
      }
    },
  };
}
