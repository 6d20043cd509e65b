/**
 * The parts of the tour, at the same time except for what depends on another: the broker's sandbox
 * and the platform's pages in this process, and three servers, each in its own process, as the
 * platform's deploy command starts it. All of it on loopback, everything in one folder.
 */
import { randomBytes } from "node:crypto";
import { createBrokerClient } from "@oauth-broker/broker-client";
import { systemClock } from "@oauth-broker/oauth-core";
import { loadPlatformConfig, loadServeConfig } from "@oauth-broker/platform/src/config.ts";
import type { SettingsChange } from "@oauth-broker/platform/src/connectors/connector.ts";
import { initConnector } from "@oauth-broker/platform/src/deploy/commands/init.ts";
import { runDeploy } from "@oauth-broker/platform/src/deploy/commands/run.ts";
import { serve } from "@oauth-broker/platform/src/serve.ts";
import { openStorage } from "@oauth-broker/platform/src/storage.ts";
import { createLog } from "@oauth-broker/service";
import { startPracticeVendors } from "../../packages/mcp-auth/src/dev/practice-vendor.ts";
import { startInProcessSandbox } from "../support/broker/sandbox.ts";
import { freePort } from "../support/free-port.ts";
import { LINKING_SOURCE, PLATFORM_SOURCE } from "../support/paths.ts";
import { textMember } from "../support/text-member.ts";
import { type ServerProject, writeServerProject } from "./server-project.ts";

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

export type Tour = NonNullable<Awaited<ReturnType<typeof startTour>>>;
/**
 * @returns `url`: the address to open; `broken` settles with the reason when a server ends by itself; undefined when
 *   it was stopped before everything ran
 * @throws Error saying which part did not start, with what a deploy said; all parts are stopped
 */
export async function startTour({ folder, port, stopped }: TourOptions, say: (text: string) => void) {
  const url = `http://127.0.0.1:${port}`;
  const callback = `${url}/oauth/callback`;
  const secret = randomBytes(32).toString("base64url");
  const log = createLog({ write: () => undefined });
  const brokerPort = await freePort();
  const brokerUrl = `http://127.0.0.1:${brokerPort}`;
  const variables = {
    PATH: process.env["PATH"],
    PLATFORM_URL: url,
    BROKER_URL: brokerUrl,
    BROKER_CLIENT_ID: BROKER_CLIENT,
    BROKER_CLIENT_SECRET: secret,
  };
  const config = loadPlatformConfig(variables, folder);
  const storage = await openStorage(config.dataDir, systemClock, config);
  const broken = Promise.withResolvers<Error>();
  const ending = Promise.withResolvers<void>();
  let isEnding = false;
  const closing: (() => Promise<unknown>)[] = [];

  const startSandbox = async (): Promise<string> => {
    const client = { id: BROKER_CLIENT, secret, redirectUris: [callback] };
    const { stop } = await startInProcessSandbox({ folder, port: brokerPort, client });
    closing.push(stop);
    return brokerUrl;
  };
  const startPages = async (): Promise<string> => {
    const listens = Promise.withResolvers<undefined>();
    const deps = { storage, log, say: () => listens.resolve(undefined), stopped: ending.promise };
    const serving = serve(loadServeConfig(variables, config), deps);
    closing.push(() => serving);
    await Promise.race([listens.promise, serving]);
    return url;
  };

  const deploy = async (
    project: ServerProject,
    { serverUrl, ...settings }: SettingsChange & { readonly serverUrl?: string } = {},
  ): Promise<string> => {
    const { name } = project;
    const said: string[] = [];
    const deployed = Promise.withResolvers<string>();
    const context = {
      config,
      storage,
      now: systemClock,
      environment: { ...variables, ...project.environment },
      start: folder,
      say: (text: string) => void said.push(text),
      print: (text: string) => deployed.resolve((JSON.parse(text) as { readonly url: string }).url),
    };
    const server = writeServerProject(folder, project);
    await initConnector(server, context);
    // What an administrator enters on the Settings tab.
    await storage.connectors.changeSettings(name, settings);
    // Taken before the first deploy takes a free one.
    if (serverUrl !== undefined) await storage.connectors.claimServerUrl(name, serverUrl);
    if (isEnding) throw new Error("The tour was stopped.");
    const allowed = Object.keys(project.environment);
    const options = { allowed, log, keeper: { file: PLATFORM_SOURCE }, stopped: ending.promise };
    const ended = runDeploy(server, { ...context, ...options }).then(
      (code) => new Error([`The deploy of ${name} ended with ${code}. Its last lines:`, ...said.slice(-20)].join("\n")),
      (error: unknown) => new Error(`The deploy of ${name} failed: ${String(error)}`),
    );
    closing.push(() => ended);
    const outcome = await Promise.race([deployed.promise, ended]);
    if (outcome instanceof Error) throw outcome;
    void ended.then(broken.resolve);
    return outcome;
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
  const deployBrokered = async (): Promise<string> => {
    const { vendor, account, scopes } = BROKERED;
    const credentials = { clientId: BROKER_CLIENT, clientSecret: secret };
    const client = createBrokerClient({ issuer: brokerUrl, redirectUri: callback, ...credentials });
    // Where the broker's practice copy of the vendor is.
    const { endpoints } = await client.explain({ vendor, scope: scopes });
    const { origin } = new URL(textMember(endpoints as Record<string, unknown>, "token_endpoint"));
    const environment = {
      VENDOR: vendor,
      VENDOR_USERINFO_URL: `${origin}${account}`,
      EGRESS_ALLOW_LOOPBACK: "true",
    };
    return deploy(
      { name: CONNECTORS.brokered, mode: "pre-registered", environment },
      { authentication: "oauth_2_1", registration: "broker", vendorOrIssuer: vendor, scopes },
    );
  };

  say("Starting the broker's sandbox and the platform, and deploying three servers …");
  const broker = startSandbox();
  const parts = [
    ["the broker", broker],
    ["the platform", startPages()],
    [CONNECTORS.hosted, deployHosted()],
    [CONNECTORS.linking, deployLinking()],
    [CONNECTORS.brokered, broker.then(deployBrokered)],
  ] as const;
  const close = async (): Promise<void> => {
    isEnding = true;
    ending.resolve();
    await Promise.allSettled(parts.map(([, started]) => started));
    await Promise.all(closing.map((end) => end()));
    await storage.close();
  };
  try {
    const announced = parts.map(async ([name, started]) => say(`  ✓ ${name}: ${await started}`));
    if ((await Promise.race([Promise.all(announced), stopped])) !== undefined) {
      return { url, brokerUrl, broken: broken.promise, close };
    }
  } catch (error) {
    await close();
    throw error;
  }
  await close();
  return undefined;
}
