/**
 * What a drill is done to: brokers and MCP servers of one build or another behind balancers, on one
 * table and one KMS key, or a broker on a SQLite file.
 */
import { join } from "node:path";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { runBrokerCommand } from "../../support/broker/process.ts";
import { BROKER_BUNDLE, MCP_BUNDLE } from "../../support/paths.ts";
import { startService } from "../../support/service-process.ts";
import { configureBroker, createParties, mcpEnvironment, startVendorHere } from "../services.ts";
import { openOnStage, type Stage } from "../stage.ts";
import { startBalancer } from "./balancer.ts";
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
  stop(): Promise<void>;
}

/** @param processes how many of each service */
export async function startDeployment(
  bundles: Bundles,
  processes: { readonly brokers: number; readonly servers: number },
): Promise<Deployment> {
  return openOnStage(async (stage) => {
    const aws = await startAws();
    stage.addBehind({ stop: aws.close });
    const { url: vendorUrl } = await startVendorHere({ codes: "named", lifetimeSeconds: LIFETIME_SECONDS }, stage);
    const [store, { keys, env }] = [await aws.newStore(), aws];
    const { folder, target, start } = await placeBrokers({ store, keys, vendorUrl, env }, stage);
    const brokers = await start(bundles.broker, processes.brokers);
    const balancer = stage.addBehind(await startBalancer());
    const data = stage.folder("servers");
    const servers = await startFleet({ balancer, processes: processes.servers, bundle: bundles.mcp }, (file, port) =>
      startService({
        name: "MCP server",
        file,
        folder: data,
        env: mcpEnvironment(vendorUrl, String(port), { DEPLOYMENT_URL, ...aws.tableEnv }),
      }),
    );
    return {
      broker: target,
      mcp: { at: balancer.url, host: new URL(DEPLOYMENT_URL).host },
      aws,
      brokers: stage.add(brokers),
      servers: stage.add(servers),
      command: async (...args) => {
        const { code, stderr } = await runBrokerCommand(args, folder, { env });
        if (code !== 0) throw new Error(`broker ${args.join(" ")} ended with ${code}:\n${stderr}`);
      },
    };
  });
}

export interface SqliteDeployment {
  readonly broker: BrokerTarget;
  /** The store's file. */
  readonly file: string;
  /** Stops the broker, which starts again after `act`. */
  whileDown(act: () => void): Promise<void>;
  stop(): Promise<void>;
}

/** One broker on a SQLite file; the balancer answers for it while it is down, by cutting connections. */
export async function startSqliteDeployment(): Promise<SqliteDeployment> {
  return openOnStage(async (stage) => {
    const { url: vendorUrl } = await startVendorHere({ codes: "named" }, stage);
    const places = { store: "sqlite:./broker.sqlite", keys: "store", vendorUrl };
    const { folder, target, start } = await placeBrokers(places, stage);
    let fleet = await start(THIS_BUILD.broker, 1);
    stage.add({ stop: () => fleet.stop() });
    return {
      broker: target,
      file: join(folder, "broker.sqlite"),
      whileDown: async (act) => {
        await fleet.stop();
        act();
        fleet = await start(THIS_BUILD.broker, 1);
      },
    };
  });
}

/** A broker.yaml and a balancer: the port of each process is in its environment. */
async function placeBrokers(
  places: {
    readonly store: string;
    readonly keys: string;
    readonly vendorUrl: string;
    readonly env?: Readonly<Record<string, string>>;
  },
  stage: Stage,
): Promise<{
  readonly folder: string;
  readonly target: BrokerTarget;
  readonly start: (bundle: string, processes: number) => Promise<Fleet>;
}> {
  const { store, keys, vendorUrl, env } = places;
  const balancer = stage.addBehind(await startBalancer());
  const { url } = balancer;
  const folder = stage.folder("brokers");
  const parties = createParties(vendorUrl, "", { codes: "named", scope: "read" });
  configureBroker(folder, { store, keys, baseUrl: url, port: Number(new URL(url).port) }, [parties]);
  return {
    folder,
    target: { url, parties },
    start: (bundle, processes) =>
      startFleet({ balancer, processes, bundle }, (file, port) =>
        startService({ name: "broker", file, folder, env: { ...env, HOST: "127.0.0.1", PORT: String(port) } }),
      ),
  };
}
