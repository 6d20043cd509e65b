/** The services of a run, each in a process: vendors, brokers' settings, MCP servers. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeVendorEnvironment } from "@oauth-broker/simulators";
import { freePort } from "../support/free-port.ts";
import { BROKER_BUNDLE, ROOT } from "../support/paths.ts";
import { random } from "./connection.ts";
import { CALLBACK } from "./mcp-client.ts";
import type { Service, ServiceProcess } from "../support/service-process.ts";
import type { Stage } from "./stage.ts";

/** @param codes `any` costs next to nothing, the tokens of `named` name their user */
export async function startVendor(codes: "any" | "named", stage: Stage): Promise<ServiceProcess> {
  const file = join(ROOT, "packages", "simulators", "src", "fake-vendor", "start-fake-vendor.ts");
  return stage.startBehind({ name: "vendor", file, args: [codes] });
}

/** Hosted mode at the fake vendor with named codes, unless `env` says otherwise. */
export async function startMcpServer(
  { env, vendorUrl, ...service }: Pick<Service, "name" | "env" | "onLine" | "flags"> & { readonly vendorUrl: string },
  stage: Stage,
): Promise<ServiceProcess> {
  const port = String(await freePort());
  return stage.start({
    ...service,
    file: join(import.meta.dirname, "bench", "mcp", "server.ts"),
    env: mcpEnvironment(vendorUrl, port, env),
  });
}

/** The settings of a server in hosted mode, unless `env` says otherwise. */
export function mcpEnvironment(
  vendorUrl: string,
  port: string,
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return {
    ...fakeVendorEnvironment(vendorUrl),
    PORT: port,
    DEPLOYMENT_URL: `http://127.0.0.1:${port}`,
    OAUTH_MODE: "hosted",
    PLATFORM_OAUTH_CALLBACK_URL: CALLBACK,
    ...env,
  };
}

interface VendorOptions {
  /** Requested in each flow; default `read write`. */
  readonly scope?: string;
  /** Only if the vendor issues ID tokens. */
  readonly issuer?: string;
  /** What the vendor accepts; default `any`. The refresh tokens of `named` rotate, and its tokens end sooner. */
  readonly codes?: "any" | "named";
}

/** A client of the broker and the vendor behind it. */
export type Parties = ReturnType<typeof createParties>;
/** @param suffix of each name, if several run */
export function createParties(vendorUrl: string, suffix = "", vendor: VendorOptions = {}) {
  return {
    clientId: `platform${suffix}`,
    clientSecret: random(),
    redirectUri: `https://platform${suffix}.example/oauth/vendor-callback`,
    vendor: {
      id: `bench${suffix}`,
      authorizationEndpoint: `${vendorUrl}/authorize`,
      tokenEndpoint: `${vendorUrl}/token`,
      clientId: `broker${suffix}`,
      clientSecret: random(),
      scope: "read write",
      ...vendor,
    },
  };
}

export interface BrokerPlace {
  readonly baseUrl: string;
  readonly store: string;
  readonly keys?: string | undefined;
  /** Default: none. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Writes the broker.yaml of a folder: defaults wherever they exist, except for limits. JSON is YAML. */
export function configureBroker(folder: string, place: BrokerPlace, parties: readonly Parties[]): void {
  const { baseUrl, store, keys, trustedProxies } = place;
  const configuration = {
    base_url: baseUrl,
    listen: { host: "127.0.0.1", port: Number(new URL(baseUrl).port), trusted_proxies: trustedProxies },
    store,
    keys,
    // 0 is off: limits would end a run after 600 flows.
    limits: { par_per_minute: 0, explain_per_minute: 0, vendor_calls_per_minute: 0 },
    egress: { allow_loopback: true },
    clients: parties.map(({ clientId, clientSecret, redirectUri }) => ({
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
    })),
    vendors: Object.fromEntries(parties.map(({ vendor }) => [vendor.id, vendorEntry(vendor)])),
  };
  writeFileSync(join(folder, "broker.yaml"), JSON.stringify(configuration), { mode: 0o600 });
}

function vendorEntry(vendor: Parties["vendor"]): object {
  return {
    name: "Bench",
    authorization_endpoint: vendor.authorizationEndpoint,
    token_endpoint: vendor.tokenEndpoint,
    issuer: vendor.issuer,
    jwks_uri: vendor.issuer === undefined ? undefined : `${vendor.issuer}/jwks`,
    pkce: "S256",
    rotates_refresh_tokens: vendor.codes === "named" ? true : undefined,
    credentials: { id: "first", client_id: vendor.clientId, client_secret: vendor.clientSecret },
  };
}

export interface BrokersOptions
  extends
    Pick<BrokerPlace, "keys" | "trustedProxies">,
    Partial<Pick<Service, "name" | "file" | "flags" | "env" | "onLine">> {
  /** As in broker.yaml; several: one of each process, equal or not. */
  readonly store: string | readonly string[];
  readonly parties: readonly Parties[];
}

/**
 * Starts brokers as an operator runs them, by default the built file, in one or several processes
 * that have one base URL, that of the first.
 */
export async function startBrokers(
  { store, parties, keys, trustedProxies, ...given }: BrokersOptions,
  stage: Stage,
): Promise<readonly [ServiceProcess, ...ServiceProcess[]]> {
  const service = { name: "broker", file: BROKER_BUNDLE, ...given };
  const folder = stage.folder(service.name);
  const servers: ServiceProcess[] = [];
  for (const STORE of [store].flat()) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const place = { baseUrl: url, store: STORE, keys, trustedProxies };
    if (servers.length === 0) configureBroker(folder, place, parties);
    const env = { ...service.env, PORT: String(port), STORE };
    // It prints the base URL.
    servers.push({ ...(await stage.start({ ...service, folder, env })), url });
  }
  return servers as [ServiceProcess, ...ServiceProcess[]];
}
