/**
 * All that can be connected in the sandbox: the OpenID provider, and the simulators of sandbox-simulators.ts, each with one
 * app for the broker. Called by the broker's sandbox.ts, which writes the entries into its configuration.
 */
import { randomBytes } from "node:crypto";
import { startOpenIdProvider } from "./openid-provider.ts";
import type { VendorOffer } from "./platform/offer.ts";

export interface SandboxVendorOptions {
  /** The broker's: what its app is registered with at each vendor. */
  readonly redirectUri: string;
  /** Where people start, for the way back from a vendor's error pages. */
  readonly homeUrl: string;
  /** Shown on consent pages. */
  readonly appName?: string;
}

export interface SandboxVendor {
  /** What an operator writes under `vendors.<id>`: where it is, and the app's credentials. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly offer: VendorOffer;
  close(): Promise<void>;
}

/** The broker's app at a vendor. */
export interface SandboxApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
  readonly name: string;
}

const OPENID_SCOPES = ["openid", "profile", "email", "offline_access", "api:read"];

/** @returns the OpenID provider first, then the simulators by name */
export async function startSandboxVendors(options: SandboxVendorOptions): Promise<readonly SandboxVendor[]> {
  // On demand: whoever wants this package for the OpenID provider loads none of them.
  const { startSandboxSimulators } = await import("./sandbox-simulators.ts");
  return Promise.all([startProvider(options), ...startSandboxSimulators(options)]);
}

/**
 * One of them, for a server under development. The OpenID provider stands in for a vendor that has no simulator: then
 * `offer.id` is `sandbox`.
 */
export async function startSandboxVendor(id: string, options: SandboxVendorOptions): Promise<SandboxVendor> {
  const { startSandboxSimulator } = await import("./sandbox-simulators.ts");
  return (await startSandboxSimulator(id, options)) ?? startProvider(options);
}

/** With a secret of its own, made anew at each start. */
export function newApp({ redirectUri, appName = "OAuth broker (sandbox)" }: SandboxVendorOptions): SandboxApp {
  const clientSecret = randomBytes(32).toString("base64url");
  return { clientId: "broker", clientSecret, redirectUris: [redirectUri], name: appName };
}

/** As in an entry of `vendors`. */
export function credentialsOf({ clientId, clientSecret }: SandboxApp): object {
  return { credentials: { id: "sandbox", client_id: clientId, client_secret: clientSecret } };
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
