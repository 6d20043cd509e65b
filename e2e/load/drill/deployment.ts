/**
 * What a drill is done to: brokers and MCP servers of one build or another behind balancers, on one
 * table and one KMS key, or a broker on a SQLite file.
 */
import { join } from "node:path";
import { type FakeVendorServer, startFakeVendor } from "@oauth-broker/simulators";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { runBrokerCommand, temporaryFolder } from "../../support/broker/process.ts";
import { BROKER_BUNDLE, MCP_BUNDLE } from "../../support/paths.ts";
import { type ServiceProcess, startService } from "../../support/service-process.ts";
import { configureBroker, createParties, mcpEnvironment } from "../services.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import type { BrokerTarget, McpTarget } from "./load.ts";

/** Paths of the built files of one commit. */
export interface Bundles {
  readonly broker: string;
  readonly mcp: string;
}

export const THIS_BUILD: Bundles = { broker: BROKER_BUNDLE, mcp: MCP_BUNDLE };

/** Vendor tokens last this long, so that every drill meets refreshes. */
const LIFETIME_SECONDS = 20;
/** TLS ends at the balancer. */
const DEPLOYMENT_URL = "https://mcp.example";

export interface Deployment {
  readonly broker: BrokerTarget;
  readonly mcp: McpTarget;
  readonly aws: AwsHarness;
  readonly brokers: Fleet;
  readonly servers: Fleet;
  /** An operator's command beside the brokers. @throws Error unless it ends with 0 */
  command(...args: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** @param processes how many of each service */
export async function startDeployment(
  bundles: Bundles,
  processes: { readonly brokers: number; readonly servers: number },
): Promise<Deployment> {
  const aws = await startAws();
  const vendor = await startFakeVendor({ codes: "named", lifetimeSeconds: LIFETIME_SECONDS });
  const [brokerBalancer, mcpBalancer] = await Promise.all([startBalancer(), startBalancer()]);
  const folder = temporaryFolder();
  const store = await aws.newStore();
  const broker = prepareBroker({ folder, balancer: brokerBalancer, vendor, store, keys: aws.keys });
  const brokers = await startFleet(
    { balancer: brokerBalancer, processes: processes.brokers, bundle: bundles.broker },
    startBrokerIn(folder, aws.env),
  );
  const servers = await startFleet(
    { balancer: mcpBalancer, processes: processes.servers, bundle: bundles.mcp },
    async (file, port) => {
      const env = mcpEnvironment(vendor.url, String(port), { DEPLOYMENT_URL, ...aws.tableEnv });
      return startService({ name: "MCP server", file, env });
    },
  );
  return {
    broker,
    mcp: { at: mcpBalancer.url, host: new URL(DEPLOYMENT_URL).host },
    aws,
    brokers,
    servers,
    command: async (...args) => {
      const { code, stderr } = await runBrokerCommand(args, folder, { env: aws.env });
      if (code !== 0) throw new Error(`broker ${args.join(" ")} ended with ${code}:\n${stderr}`);
    },
    close: async () => {
      await Promise.all([brokers.stop(), servers.stop()]);
      await Promise.all([brokerBalancer.close(), mcpBalancer.close()]);
      await vendor.close();
      await aws.close();
    },
  };
}

export interface SqliteDeployment {
  readonly broker: BrokerTarget;
  /** The store's file. */
  readonly file: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** One broker on a SQLite file; the balancer answers for it while it is down, by cutting connections. */
export async function startSqliteDeployment(): Promise<SqliteDeployment> {
  const vendor = await startFakeVendor({ codes: "named" });
  const balancer: Balancer = await startBalancer();
  const folder = temporaryFolder();
  const broker = prepareBroker({ folder, balancer, vendor, store: "sqlite:./broker.sqlite", keys: "store" });
  const start = async (): Promise<Fleet> =>
    startFleet({ balancer, processes: 1, bundle: THIS_BUILD.broker }, startBrokerIn(folder));
  let fleet = await start();
  return {
    broker,
    file: join(folder, "broker.sqlite"),
    stop: async () => fleet.stop(),
    start: async () => {
      fleet = await start();
    },
    close: async () => {
      await fleet.stop();
      await balancer.close();
      await vendor.close();
    },
  };
}

/** @returns starts a process in the folder of the broker.yaml */
function startBrokerIn(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): (file: string, port: number) => Promise<ServiceProcess> {
  return (file, port) =>
    startService({ name: "broker", file, folder, env: { ...env, HOST: "127.0.0.1", PORT: String(port) } });
}

interface BrokerPlaces {
  readonly folder: string;
  readonly balancer: Balancer;
  readonly vendor: FakeVendorServer;
  readonly store: string;
  readonly keys: string;
}

/** The port of each process is in its environment. */
function prepareBroker({ folder, balancer: { url }, vendor, ...places }: BrokerPlaces): BrokerTarget {
  const parties = createParties(vendor.url, "", { codes: "named", scope: "read" });
  configureBroker(folder, { ...places, baseUrl: url, port: Number(new URL(url).port) }, [parties]);
  return { url, parties };
}
