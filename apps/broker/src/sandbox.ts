/**
 * The sandbox: a real OpenID provider, a simulator of every first-class vendor and the reference
 * platform beside the broker, all on loopback, so that a newcomer clicks through whole flows without
 * an account anywhere. The only file that knows the simulators and the platform, which imports
 * nothing of the broker.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder, Secret } from "@oauth-broker/oauth-core";
import { requireRegistrableRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import type { EmbeddedPlatform, NewConnector } from "@oauth-broker/platform";
import type { Log } from "@oauth-broker/service";
import type { SandboxVendor, VendorOffer } from "@oauth-broker/simulators";
import { writeWhole } from "@oauth-broker/token-store";
import {
  buildVendors,
  type ClientConfig,
  type Config,
  configError,
  type SandboxUse,
  type VendorConfig,
} from "./config.ts";
import { readTimeline } from "./cli/timeline.ts";
import type { Broker } from "./app.ts";
import { CALLBACK_PATH } from "./vendor-choice/callback-path.ts";

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** The redirect URI of the programs in examples/, as they start. */
const EXAMPLES_REDIRECT_URI = "http://127.0.0.1:3000/oauth/callback";

interface SandboxClient {
  readonly client_id: string;
  readonly client_secret: string;
  /**
   * Beside the platform's own, which changes with its port: those of other platforms on this
   * machine. Written by hand.
   */
  readonly more_redirect_uris: readonly string[];
  /** Where the platform was the last time, so that an open page works after a restart. */
  readonly lastPort: number | undefined;
}

const NEEDS_THE_REPOSITORY =
  "This file has no sandbox: run `npm start` in the repository. To run this file alone, write a broker.yaml (see broker.example.yaml).";

/**
 * Whether this program runs the sandbox: from source if there is nothing else to run, or if it
 * is asked for. The built file leaves it out.
 *
 * @throws Error if it is asked for and is not there
 */
export function sandboxUse(isWanted: boolean): SandboxUse {
  if (existsSync(new URL("./sandbox.ts", import.meta.url))) return isWanted ? "always" : "default";
  if (isWanted) throw new Error(NEEDS_THE_REPOSITORY);
  return "absent";
}

/** @throws Error saying that the sandbox needs the repository, when the simulators are not there */
export async function startSandbox(config: Config, clientFile: string, log: Log) {
  const [{ startSandboxVendors }, { startPlatform }] = await loadParts();
  const client = await loadOrMakeClient(clientFile);
  let broker: Broker | undefined;
  const options = {
    broker: {
      issuer: config.baseUrl,
      clientId: client.client_id,
      clientSecret: new Secret(client.client_secret),
    },
    timeline: async (flowId: string) => (broker && (await readTimeline(flowId, broker.deps.records)))?.legs ?? [],
    keyFile: join(dirname(clientFile), "sandbox", "platform.key"),
    lastPort: client.lastPort,
  };
  const platform = await startPlatform(options, log);
  const vendors = await startSandboxVendors({
    redirectUri: `${config.baseUrl}${CALLBACK_PATH}`,
    homeUrl: platform.url,
  });
  // One after the other: they share a list.
  // oxlint-disable-next-line no-await-in-loop
  for (const { offer } of vendors) await platform.add(connectorTo(offer));
  const ids = vendors.map(({ offer }) => offer.id);
  return {
    /** The configuration with the sandbox's vendors and client in it. */
    config: {
      ...config,
      clients: [sandboxClient(client, platform, ids)],
      vendors: new Map([...config.vendors, ...configuredVendors(vendors, config)]),
    },
    /** What to open in a browser. */
    url: platform.url,
    /** Where the generated client's credentials are. */
    clientFile,
    /** The page shows the broker's own timeline, which exists once the broker does. */
    attach: (started: Broker): void => {
      broker = started;
    },
    /**
     * Writes the client's credentials, once the broker listens: they are of no use before, and
     * another sandbox may be running.
     */
    publish: async (): Promise<void> => {
      await writeClientFile(clientFile, client, platform, { issuer: config.baseUrl, vendor: ids[0], vendors: ids });
      await writeEnvironmentFile(join(dirname(clientFile), "sandbox.env"), client, config.baseUrl, vendors);
    },
    close: async (): Promise<void> => {
      await Promise.all([platform, ...vendors].map((server) => server.close()));
    },
  };
}

function connectorTo({ id, name, about, placeholders = [], ...offer }: VendorOffer): NewConnector {
  const { scope, ...request } = offer.request;
  return {
    id,
    name,
    settings: { authentication: "oauth_2_1", registration: "broker", vendorOrIssuer: id, scopes: scope },
    withoutServer: { about: `A practice copy on this machine. ${about}`, asked: placeholders, request },
  };
}

function sandboxClient(
  { client_id, client_secret, more_redirect_uris }: SandboxClient,
  platform: EmbeddedPlatform,
  approvedVendors: readonly string[],
): ClientConfig {
  return {
    clientId: client_id,
    name: "the sandbox's platform",
    secretDigests: [createHash("sha256").update(client_secret).digest()],
    redirectUris: redirectUrisOf(platform, more_redirect_uris),
    browserBinding: "required",
    allowOverrides: true,
    approvedVendors,
    initiateLoginUri: platform.url,
  };
}

function redirectUrisOf(platform: EmbeddedPlatform, more: readonly string[]): readonly string[] {
  return [platform.redirectUri, EXAMPLES_REDIRECT_URI, ...more];
}

/**
 * As an operator would point registry entries at other hosts, and define their own vendor:
 * `vendors` of broker.yaml.
 */
function configuredVendors(
  vendors: readonly SandboxVendor[],
  { vendors: known }: Config,
): ReadonlyMap<string, VendorConfig> {
  const section = Object.fromEntries(vendors.map(({ offer, entry }) => [offer.id, entry]));
  const registry = new Map([...known].filter(([id]) => Object.hasOwn(section, id)));
  const rules = { allowLoopback: true, allowCidrs: [] };
  const built = buildVendors(section, { env: {}, registry, rules });
  if (built.vendors.size < vendors.length || built.problems.length > 0) {
    throw configError("the sandbox's vendors", built.problems);
  }
  return built.vendors;
}

type Parts = [typeof import("@oauth-broker/simulators"), typeof import("@oauth-broker/platform")];

/** Left out of the built file: every configured mode runs without them. */
async function loadParts(): Promise<Parts> {
  try {
    return await Promise.all([import("@oauth-broker/simulators"), import("@oauth-broker/platform")]);
  } catch (cause) {
    throw new Error(NEEDS_THE_REPOSITORY, { cause });
  }
}

/**
 * The same client over restarts, so that scripts written against it keep working.
 *
 * @throws OAuthError for a redirect URI in the file that no client may register
 */
async function loadOrMakeClient(path: string): Promise<SandboxClient> {
  const { client_id, client_secret, more_redirect_uris, redirect_uris } = await readClientFile(path);
  if (typeof client_id !== "string" || typeof client_secret !== "string") {
    const secret = randomBytes(32).toString("base64url");
    return { client_id: "sandbox-platform", client_secret: secret, more_redirect_uris: [], lastPort: undefined };
  }
  const listed: readonly unknown[] = Array.isArray(more_redirect_uris) ? more_redirect_uris : [];
  const own = listed.filter((uri) => typeof uri === "string");
  own.forEach(requireRegistrableRedirectUri);
  return { client_id, client_secret, more_redirect_uris: own, lastPort: readPort(redirect_uris) };
}

/** The port of the platform's own redirect URI, the first of the file. */
function readPort(redirectUris: unknown): number | undefined {
  const [own]: readonly unknown[] = Array.isArray(redirectUris) ? redirectUris : [];
  const port = Number((typeof own === "string" ? URL.parse(own) : null)?.port ?? "");
  return port > 1023 ? port : undefined;
}

async function readClientFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const known: unknown = JSON.parse(await readFile(path, "utf8"));
    return typeof known === "object" && known !== null ? { ...known } : {};
  } catch {
    // None yet, or one that cannot be read: it only ever held a generated client of this sandbox.
    return {};
  }
}

async function writeClientFile(
  path: string,
  client: SandboxClient,
  platform: EmbeddedPlatform,
  about: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { lastPort: _, ...kept } = client;
  const content = { ...kept, redirect_uris: redirectUrisOf(platform, client.more_redirect_uris), ...about };
  await writeSecretFile(path, `${JSON.stringify(content, null, 2)}\n`);
}

/**
 * As variables, for programs such as those in examples/: the broker, the client, and the addresses
 * of the practice vendors.
 */
async function writeEnvironmentFile(
  path: string,
  { client_id, client_secret }: SandboxClient,
  brokerUrl: string,
  vendors: readonly SandboxVendor[],
): Promise<void> {
  const apis = vendors.map(({ offer, entry }) => {
    const { origin } = new URL(String(entry["token_endpoint"] ?? entry["issuer"]));
    return [`${offer.id.toUpperCase().replaceAll("-", "_")}_API_URL`, origin];
  });
  const broker = { BROKER_URL: brokerUrl, BROKER_CLIENT_ID: client_id, BROKER_CLIENT_SECRET: client_secret };
  const lines = [...Object.entries(broker), ...apis].map(([name, value]) => `${name}=${value}\n`);
  await writeSecretFile(path, lines.join(""));
}

async function writeSecretFile(path: string, text: string): Promise<void> {
  makeFolder(dirname(path));
  await writeWhole(path, text, rename);
}
