/**
 * Several processes of one broker on one store, a fake vendor and an OpenID provider, for races
 * between uses.
 */
import { rmSync } from "node:fs";
import { type OpenIdProvider, startFakeVendor, type FakeVendorServer } from "@oauth-broker/simulators";
import { type BrokerProcess, runBrokerCommand, startBrokerProcess, temporaryFolder } from "../broker/process.ts";
import { type ClientKeys, createClientKeys } from "../broker/client-keys.ts";
import { brokerYaml, createSecrets, REDIRECT_URI } from "../broker/configuration.ts";
import { freePort } from "../free-port.ts";
import { createPlatform, type Platform } from "../broker/platform.ts";
import { plantVendorSecrets, startVendor } from "../broker/vendor.ts";

export interface RaceHarnessOptions {
  readonly processes: number;
  /** As in broker.yaml; relative paths start in the harness's folder. */
  readonly store: string;
  readonly keys?: string;
  /**
   * The ports of an earlier harness, whose base_url and so whose keyset this one takes over.
   * Default: free ones.
   */
  readonly ports?: readonly number[];
  /** Of every process. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface RaceHarness {
  /** The addresses of the processes. The first is the broker's base_url. */
  readonly urls: readonly string[];
  readonly brokers: readonly BrokerProcess[];
  /** A client of the fake vendor. */
  readonly platform: Platform;
  /** The same client at the OpenID provider. */
  readonly atProvider: Platform;
  readonly vendor: OpenIdProvider;
  readonly stub: FakeVendorServer;
  /** The keys of the client `keyed`. */
  readonly keys: ClientKeys;
  /** An address at one process after the other. */
  url(index: number): string;
  /** The same request at one process after the other. */
  at(index: number, url: URL | string): URL;
  /** An operator's command beside the processes. */
  command(...args: readonly string[]): ReturnType<typeof runBrokerCommand>;
  /** @throws Error when a process ended badly, or one of them printed a secret */
  close(): Promise<void>;
}

/** Starts all processes at the same moment, on an empty store. */
export async function startRaceHarness(options: RaceHarnessOptions): Promise<RaceHarness> {
  const { processes, store, keys: keyset = "store", env = {} } = options;
  const secrets = createSecrets();
  const folder = temporaryFolder();
  const ports: number[] = [...(options.ports ?? [])];
  while (ports.length < processes) ports.push(await freePort());
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const url = (index: number): string => urls[index % urls.length] ?? "";
  const baseUrl = url(0);
  const vendor = await startVendor({ baseUrl, secrets });
  const stub = await startFakeVendor({ codes: "any" });
  const keys = await createClientKeys("first");
  const yaml = brokerYaml({
    baseUrl,
    secrets,
    issuer: vendor.issuer,
    store,
    keys: keyset,
    clients: `  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }`,
    vendors: `
  stub:
    name: Stub
    authorization_endpoint: ${stub.authorizationEndpoint}
    token_endpoint: ${stub.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`,
    more: "limits: { par_per_minute: 0, explain_per_minute: 0, vendor_calls_per_minute: 0 }",
  });
  const brokers = await Promise.all(
    ports.map((port) =>
      startBrokerProcess({ entry: "short-waits", yaml, folder, env: { ...env, PORT: String(port) } }),
    ),
  );
  return {
    urls,
    brokers,
    platform: createPlatform({ baseUrl, clientSecret: secrets.platform, vendor: "stub" }),
    atProvider: createPlatform({ baseUrl, clientSecret: secrets.platform }),
    vendor,
    stub,
    keys,
    url,
    at: (index, address) => {
      const moved = new URL(address);
      moved.host = new URL(url(index)).host;
      return moved;
    },
    command: async (...args) => runBrokerCommand(args, folder, { env }),
    close: async () => {
      plantVendorSecrets(vendor);
      await Promise.all(brokers.map((broker) => broker.stop()));
      rmSync(folder, { recursive: true, force: true });
      await vendor.close();
      await stub.close();
    },
  };
}
