/**
 * The template in hosted mode with its own callback, at the OpenID provider: for tests with
 * browsers and with stock clients.
 */
import type { OpenIdProvider } from "@oauth-broker/simulators";
import { freePort } from "../free-port.ts";
import { type ServerInProcess, serveTemplate } from "./in-process.ts";
import type { Environment } from "./process.ts";
import { startOpenIdVendor } from "./vendor.ts";
import { challengeOf } from "../broker/platform.ts";

/** The verifier of `authorizeUrl`'s challenge. */
export const VERIFIER = "v".repeat(43);

export interface ServerCallbackHarness {
  /** The one that runs now. */
  readonly server: ServerInProcess;
  readonly provider: OpenIdProvider;
  /** Where a client sends its user. */
  authorizeUrl(wishes: Readonly<Record<string, string>>): string;
  /** Stops the server and starts another in its folder. */
  restart(): Promise<void>;
  /** @throws Error as ServiceProcess.stop */
  close(): Promise<void>;
}

/**
 * @param env gets the server's base URL; sets which clients may connect
 * @param start `startMcpServer` for a test about the process
 */
export async function startServerCallback(
  env: (baseUrl: string) => Environment,
  start: typeof serveTemplate = serveTemplate,
): Promise<ServerCallbackHarness> {
  const port = String(await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const vendor = await startOpenIdVendor({ redirectUri: `${baseUrl}/callback` });
  const environment = {
    OAUTH_MODE: "hosted",
    OAUTH_CALLBACK: "server",
    DEPLOYMENT_URL: baseUrl,
    PORT: port,
    ...vendor.env,
    ...env(baseUrl),
  };
  let server = await start(environment);
  return {
    get server() {
      return server;
    },
    provider: vendor.provider,
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
      server = await start(environment, server.folder);
    },
    close: async () => {
      try {
        await server.stop();
      } finally {
        await vendor.close();
      }
    },
  };
}
