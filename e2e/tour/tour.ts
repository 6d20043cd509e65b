/**
 * Starts the parts of the tour in parallel, except for what depends on another: the broker's
 * sandbox, the platform's pages, and three servers through the platform's deploy command. All of it
 * on loopback, everything in one folder.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBrokerClient } from "@oauth-broker/broker-client";
import { systemClock } from "@oauth-broker/oauth-core";
import { loadPlatformConfig } from "@oauth-broker/platform/src/config.ts";
import type { SettingsChange } from "@oauth-broker/platform/src/connectors/store.ts";
import { initConnector } from "@oauth-broker/platform/src/deploy/commands/init.ts";
import { openStorage } from "@oauth-broker/platform/src/storage.ts";
import { startPracticeVendors } from "../../packages/mcp-auth/src/dev/practice-vendor.ts";
import { freePort } from "../support/free-port.ts";
import { BROKER_SOURCE, LINKING_SOURCE, PLATFORM_SOURCE } from "../support/paths.ts";
import { textMember } from "../support/text-member.ts";
import { type PartCommand, sentence, startPart } from "./parts.ts";
import { type ServerProject, writeServerProject } from "./server-project.ts";

export interface Tour {
  /** The address to open. */
  readonly url: string;
  readonly brokerUrl: string;
  /** Settles with the reason when a part ends by itself. */
  readonly broken: Promise<Error>;
  close(): Promise<void>;
}

export interface TourOptions {
  /** An empty folder that holds everything. */
  readonly folder: string;
  /** The port of the platform's pages; free. */
  readonly port: number;
  /** Settles when the tour should end. */
  readonly stopped: Promise<undefined>;
}

/** The connectors, by what they show. */
export const CONNECTORS = {
  hosted: "hosted-server",
  linking: "linking-server",
  brokered: "brokered-server",
} as const;

const BROKER_CLIENT = "sandbox-platform";
/** The broker's vendor: its tokens are validated without a client of the server's own. */
const BROKERED = { vendor: "slack", account: "/api/auth.test", scopes: "users:read search:read.public" } as const;

/**
 * @returns undefined when it was stopped before everything ran
 * @throws Error with the last lines of the part that did not start; all parts started before are
 *   stopped
 */
export async function startTour(
  { folder, port, stopped }: TourOptions,
  say: (text: string) => void,
): Promise<Tour | undefined> {
  const url = `http://127.0.0.1:${port}`;
  const callback = `${url}/oauth/callback`;
  const closing: (() => Promise<void>)[] = [];
  const broken = Promise.withResolvers<Error>();
  let isClosing = false;
  const close = async (): Promise<void> => {
    isClosing = true;
    await Promise.all(closing.map((end) => end()));
  };
  const begin = (command: PartCommand): Promise<string> => {
    if (isClosing) throw new Error("The tour was stopped.");
    const part = startPart(command);
    closing.push(part.stop);
    void part.ended.then((code) => {
      if (isClosing) return;
      broken.resolve(new Error(`${sentence(command.name)} ended with ${code}. Its last lines:\n${part.lastLines()}`));
    });
    return part.url;
  };
  const secret = randomBytes(32).toString("base64url");
  const data = join(folder, "platform-data");
  const platform = {
    PLATFORM_URL: url,
    PLATFORM_DATA_DIR: data,
    BROKER_CLIENT_ID: BROKER_CLIENT,
    BROKER_CLIENT_SECRET: secret,
  };

  const deploy = async (
    project: ServerProject,
    { serverUrl, ...settings }: SettingsChange & { readonly serverUrl?: string } = {},
  ): Promise<string> => {
    const { name, environment } = project;
    const server = writeServerProject(folder, project);
    await initialize(server, { environment: platform, name, settings, serverUrl });
    const allowed = Object.keys(environment).map((variable) => `--env=${variable}`);
    const args = [PLATFORM_SOURCE, "deploy", "run", server, ...allowed];
    return begin({ name: `the deploy of ${name}`, args, folder, env: { ...platform, ...environment } });
  };
  const deployHosted = async (): Promise<string> => {
    const given = { VENDOR: "github", VENDOR_SCOPES: "read:user" };
    const redirectUri = `${url}/oauth/connectors/${CONNECTORS.hosted}/callback`;
    const vendor = await startPracticeVendors(given, { redirectUri, homeUrl: url, name: "Hosted server" });
    closing.push(vendor.close);
    const environment = { ...given, ...vendor.environment };
    return deploy({ name: CONNECTORS.hosted, mode: "hosted", environment });
  };
  const deployLinking = async (): Promise<string> => {
    // Known first: both vendors' apps are registered with its redirect URIs.
    const serverUrl = `http://127.0.0.1:${await freePort()}`;
    const given = { OAUTH_MODE: "hosted", VENDORS: "github,slack", OAUTH_DYNAMIC_REGISTRATION: "open" };
    const options = { redirectUri: `${serverUrl}/callback`, homeUrl: url, serverUrl, name: "Linking server" };
    const vendors = await startPracticeVendors(given, options);
    closing.push(vendors.close);
    const { OAUTH_MODE: _, ...environment } = { ...given, ...vendors.environment };
    const expose = ["/callback", "/vendors/*", "/connect/*", "/connections"];
    const project = { name: CONNECTORS.linking, mode: "hosted", environment, file: LINKING_SOURCE, expose } as const;
    return deploy(project, { serverUrl: `${serverUrl}/mcp` });
  };
  const deployBrokered = async (brokerUrl: string): Promise<string> => {
    const environment = await brokeredEnvironment({ brokerUrl, secret, callback });
    const { vendor, scopes } = BROKERED;
    return deploy(
      { name: CONNECTORS.brokered, mode: "pre-registered", environment },
      { authentication: "oauth_2_1", registration: "broker", vendorOrIssuer: vendor, scopes },
    );
  };

  const startAll = async (): Promise<string> => {
    say("Starting the broker's sandbox and the platform, and deploying three servers …");
    const announce = async (name: string, started: Promise<string>): Promise<string> => {
      const address = await started;
      say(`  ✓ ${name}: ${address}`);
      return address;
    };
    writeSandboxClient(folder, secret, callback);
    const port = String(await freePort());
    const broker = announce(
      "the broker",
      begin({ name: "the broker", args: [BROKER_SOURCE], folder, env: { PORT: port } }),
    );
    const env = { ...platform, BROKER_URL: `http://127.0.0.1:${port}` };
    const [brokerUrl] = await Promise.all([
      broker,
      announce("the platform", begin({ name: "the platform", args: [PLATFORM_SOURCE, "serve"], folder, env })),
      announce(CONNECTORS.hosted, deployHosted()),
      announce(CONNECTORS.linking, deployLinking()),
      announce(CONNECTORS.brokered, broker.then(deployBrokered)),
    ]);
    return brokerUrl;
  };

  try {
    const failed = broken.promise.then((error) => Promise.reject(error));
    const brokerUrl = await Promise.race([startAll(), failed, stopped]);
    if (brokerUrl !== undefined) return { url, brokerUrl, broken: broken.promise, close };
    await close();
    return undefined;
  } catch (error) {
    await close();
    throw error;
  }
}

/** The broker prints the address of its practice copy of the vendor. */
async function brokeredEnvironment({
  brokerUrl,
  secret,
  callback,
}: {
  readonly brokerUrl: string;
  readonly secret: string;
  readonly callback: string;
}): Promise<Record<string, string>> {
  const client = createBrokerClient({
    issuer: brokerUrl,
    clientId: BROKER_CLIENT,
    clientSecret: secret,
    redirectUri: callback,
  });
  const { endpoints } = await client.explain({ vendor: BROKERED.vendor, scope: BROKERED.scopes });
  const { origin } = new URL(textMember(endpoints as Record<string, unknown>, "token_endpoint"));
  return {
    VENDOR: BROKERED.vendor,
    VENDOR_USERINFO_URL: `${origin}${BROKERED.account}`,
    EGRESS_ALLOW_LOOPBACK: "true",
  };
}

/** `deploy init`, and what an administrator enters on the Settings tab. */
async function initialize(
  server: string,
  {
    environment,
    name,
    settings,
    serverUrl,
  }: {
    readonly environment: Readonly<Record<string, string>>;
    readonly name: string;
    readonly settings: SettingsChange;
    /** Taken before the first deploy takes a free one. */
    readonly serverUrl: string | undefined;
  },
): Promise<void> {
  const config = loadPlatformConfig(environment, server);
  const storage = await openStorage(config.dataDir, systemClock, config);
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  try {
    const code = await initConnector(server, {
      config,
      storage,
      now: systemClock,
      environment,
      start: server,
      say,
      print: say,
    });
    if (code !== 0) throw new Error(`deploy init of ${name} failed with ${code}:\n${said.join("\n")}`);
    await storage.connectors.changeSettings(name, settings);
    if (serverUrl !== undefined) await storage.connectors.claimServerUrl(name, serverUrl);
  } finally {
    await storage.close();
  }
}

/** The sandbox keeps an existing client, and adds the platform's callback to its redirect URIs. */
function writeSandboxClient(folder: string, secret: string, callback: string): void {
  mkdirSync(join(folder, "data"));
  const client = { client_id: BROKER_CLIENT, client_secret: secret, more_redirect_uris: [callback] };
  writeFileSync(join(folder, "data", "sandbox-client.json"), JSON.stringify(client), { mode: 0o600 });
}
