/**
 * The template in hosted mode with its own callback, at the OpenID provider: for tests with
 * browsers and with stock clients.
 */
import { freePort } from "../free-port.ts";
import { serveTemplate } from "./in-process.ts";
import type { Environment } from "./process.ts";
import { startOpenIdVendor } from "./vendor.ts";

/**
 * @param env gets the server's base URL; sets which clients may connect
 * @param start `startMcpServer` for a test about the process
 */
export async function startServerCallback(
  env: (baseUrl: string) => Environment,
  start: typeof serveTemplate = serveTemplate,
) {
  const port = String(await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const vendor = await startOpenIdVendor({ redirectUris: [`${baseUrl}/callback`] });
  const server = await start({
    OAUTH_MODE: "hosted",
    OAUTH_CALLBACK: "server",
    DEPLOYMENT_URL: baseUrl,
    PORT: port,
    ...vendor.env,
    ...env(baseUrl),
  });
  return {
    server,
    provider: vendor.provider,
    /** @throws Error as ServiceProcess.stop */
    close: async () => {
      try {
        await server.stop();
      } finally {
        await vendor.close();
      }
    },
  };
}
