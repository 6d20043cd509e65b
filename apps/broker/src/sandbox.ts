/**
 * The sandbox: a real OpenID provider as the vendor and a sample platform beside the broker, all on loopback,
 * so that a newcomer clicks through a whole flow without an account anywhere. The only file that knows the simulators.
 */
import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { defineVendor, Secret } from "@oauth-broker/oauth-core";
import type { SandboxPlatform } from "@oauth-broker/simulators";
import type { ClientConfig, Config, VendorConfig } from "./config.ts";
import { readTimeline } from "./flows/timeline.ts";
import type { Broker } from "./app.ts";

export interface Sandbox {
  /** The configuration with the sandbox's vendor and client in it. */
  readonly config: Config;
  /** What to open in a browser. */
  readonly url: string;
  /** Where the generated client's credentials are. */
  readonly clientFile: string;
  /** The page shows the broker's own timeline, which exists once the broker does. */
  attach(broker: Broker): void;
  /** Writes the client's credentials, once the broker listens: they are of no use before, and another sandbox may be running. */
  publish(): Promise<void>;
  close(): Promise<void>;
}

const VENDOR_ID = "sandbox";
const SCOPES = ["openid", "profile", "email", "offline_access", "api:read"];

interface SandboxClient {
  readonly client_id: string;
  readonly client_secret: string;
}

/** @throws Error saying that the sandbox needs the repository, when the simulators are not there */
export async function startSandbox(config: Config, clientFile: string): Promise<Sandbox> {
  const { startOpenIdProvider, startSandboxPlatform } = await loadSimulators();
  const client = await loadOrMakeClient(clientFile);
  const vendorSecret = randomBytes(32).toString("base64url");
  let broker: Broker | undefined;
  const platform = await startSandboxPlatform({
    brokerUrl: config.baseUrl,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    vendor: VENDOR_ID,
    scope: SCOPES.join(" "),
    timeline: async (flowId) => (broker && (await readTimeline(flowId, broker.deps.records)))?.legs ?? [],
  });
  const provider = await startOpenIdProvider({
    homeUrl: platform.url,
    registration: {},
    clients: [
      {
        clientId: "broker",
        clientName: "OAuth broker (sandbox)",
        clientSecret: vendorSecret,
        redirectUris: [`${config.baseUrl}/v1/callback`],
      },
    ],
  });
  return {
    config: {
      ...config,
      clients: [sandboxClient(client, platform)],
      vendors: new Map([...config.vendors, [VENDOR_ID, sandboxVendor(provider.issuer, vendorSecret)]]),
    },
    url: platform.url,
    clientFile,
    attach: (started) => {
      broker = started;
    },
    publish: () => writeClientFile(clientFile, client, platform, config.baseUrl),
    close: async () => {
      await platform.close();
      await provider.close();
    },
  };
}

function sandboxClient({ client_id, client_secret }: SandboxClient, platform: SandboxPlatform): ClientConfig {
  return {
    clientId: client_id,
    name: "the sandbox's platform",
    secretDigests: [createHash("sha256").update(client_secret).digest()],
    redirectUris: [platform.redirectUri],
    browserBinding: "required",
    allowOverrides: true,
    approvedVendors: [],
    initiateLoginUri: platform.url,
  };
}

function sandboxVendor(issuer: string, clientSecret: string): VendorConfig {
  return {
    vendor: defineVendor({
      id: VENDOR_ID,
      name: "Sandbox vendor (a real OpenID provider)",
      issuer,
      registrationEndpoint: `${issuer}/reg`,
      defaultScopes: SCOPES,
      rotatesRefreshTokens: true,
    }),
    placeholders: {},
    setup: "none",
    byoc: true,
    needsOwnerPage: false,
    credentials: [{ id: "sandbox", source: "shared", clientId: "broker", clientSecret: new Secret(clientSecret) }],
  };
}

/** Left out of the built file: every configured mode runs without it. */
async function loadSimulators(): Promise<typeof import("@oauth-broker/simulators")> {
  const name = "@oauth-broker/simulators";
  try {
    return (await import(name)) as typeof import("@oauth-broker/simulators");
  } catch (cause) {
    throw new Error(
      "The sandbox needs the repository: run `npm start` there. To run this file alone, write a broker.yaml (see broker.example.yaml).",
      { cause },
    );
  }
}

/** The same client over restarts, so that scripts written against it keep working. */
async function loadOrMakeClient(path: string): Promise<SandboxClient> {
  try {
    const known = JSON.parse(await readFile(path, "utf8")) as Partial<SandboxClient>;
    if (typeof known.client_id === "string" && typeof known.client_secret === "string") {
      return { client_id: known.client_id, client_secret: known.client_secret };
    }
  } catch {
    // None yet, or one that cannot be read: it only ever held a generated client of this sandbox.
  }
  return { client_id: "sandbox-platform", client_secret: randomBytes(32).toString("base64url") };
}

async function writeClientFile(
  path: string,
  client: SandboxClient,
  platform: SandboxPlatform,
  baseUrl: string,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const content = { ...client, redirect_uris: [platform.redirectUri], issuer: baseUrl, vendor: VENDOR_ID };
  await writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  // The mode above is for a new file only.
  await chmod(path, 0o600);
}
