/**
 * All that can be connected in the sandbox: the OpenID provider, and the simulators of
 * sandbox-simulators.ts, each with one app for the broker. Called by broker/src/sandbox.ts, which
 * writes the entries into its configuration.
 */
import { startOpenIdProvider } from "./openid-provider.ts";
import { credentialsOf, newApp, type SandboxVendor, type SandboxVendorOptions } from "./sandbox-app.ts";

const OPENID_SCOPES = ["openid", "profile", "email", "offline_access", "api:read"];

/** @returns the OpenID provider first, then the simulators by name */
export async function startSandboxVendors(options: SandboxVendorOptions): Promise<readonly SandboxVendor[]> {
  // On demand, so that an importer of the OpenID provider alone does not load them.
  const { SANDBOX_SIMULATORS } = await import("./sandbox-simulators.ts");
  return Promise.all([startProvider, ...SANDBOX_SIMULATORS.values()].map((start) => start(options)));
}

/**
 * One of them, for a server under development. The OpenID provider replaces a vendor that has no
 * simulator: then `offer.id` is `sandbox`.
 */
export async function startSandboxVendor(id: string, options: SandboxVendorOptions): Promise<SandboxVendor> {
  const { SANDBOX_SIMULATORS } = await import("./sandbox-simulators.ts");
  return (SANDBOX_SIMULATORS.get(id) ?? startProvider)(options);
}

async function startProvider(options: SandboxVendorOptions): Promise<SandboxVendor> {
  const app = newApp(options);
  const provider = await startOpenIdProvider({
    homeUrl: options.homeUrl,
    registration: {},
    clients: [{ ...app, clientName: app.name }],
  });
  const { issuer } = provider;
  return {
    entry: {
      name: "Sandbox vendor (a real OpenID provider)",
      issuer,
      registration_endpoint: `${issuer}/reg`,
      default_scopes: OPENID_SCOPES,
      rotates_refresh_tokens: true,
      ...credentialsOf(app),
    },
    offer: {
      id: "sandbox",
      name: "Sandbox vendor",
      about: "A certified OpenID provider that this repository did not write.",
      // Makes it show both its pages each time.
      request: { scope: OPENID_SCOPES.join(" "), prompt: "login consent" },
    },
    close: provider.close,
  };
}
