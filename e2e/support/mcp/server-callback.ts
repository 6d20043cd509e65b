/** A server in hosted mode with its own callback, and its vendor: for browsers and for clients as they ship. */
import { serveTemplate } from "./in-process.ts";
import { type Environment, hostedEnvironment } from "./process.ts";
import { startOpenIdVendor } from "./vendor.ts";

/**
 * The template, at the OpenID provider.
 *
 * @param env gets the server's base URL; sets which clients may connect
 * @param start `startMcpServer` for a test about the process
 */
export async function startServerCallback(
  env: (baseUrl: string) => Environment,
  start: typeof serveTemplate = serveTemplate,
) {
  const { vendor, ...rest } = await startAtVendor((redirectUris) => startOpenIdVendor({ redirectUris }), env, start);
  return { ...rest, provider: vendor.provider };
}

/** @param startVendor gets the redirect URIs of the server */
export async function startAtVendor<
  Vendor extends { readonly env: Environment; close(): Promise<void> },
  Server extends { stop(): Promise<void> },
>(
  startVendor: (redirectUris: readonly string[]) => Promise<Vendor>,
  env: (baseUrl: string) => Environment,
  start: (env: Environment) => Promise<Server>,
) {
  const own = await hostedEnvironment({ OAUTH_CALLBACK: "server" });
  const baseUrl = own.DEPLOYMENT_URL;
  const vendor = await startVendor([`${baseUrl}/callback`]);
  const server = await start({ ...own, ...vendor.env, ...env(baseUrl) });
  return {
    server,
    vendor,
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
