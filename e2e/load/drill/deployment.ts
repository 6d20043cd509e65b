/**
 * What a drill is done to: brokers and MCP servers of one build or another, each service behind a
 * balancer, on one table and one KMS key, or a broker on a SQLite file.
 */
import type { AwsHarness } from "../../support/aws/aws.ts";
import { BROKER_BUNDLE, MCP_BUNDLE } from "../../support/paths.ts";
import { startService } from "../../support/service-process.ts";
import { type BrokerPlace, configureBroker, createParties, mcpEnvironment } from "../services.ts";
import type { Stage } from "../stage.ts";
import { startBalancer } from "./balancer.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import type { BrokerTarget, McpTarget } from "./load.ts";

/** Paths of the built files of one commit. */
export interface Bundles {
  readonly broker: string;
  readonly mcp: string;
}

export const THIS_BUILD: Bundles = { broker: BROKER_BUNDLE, mcp: MCP_BUNDLE };

/** TLS ends at the balancer. */
const DEPLOYMENT_URL = "https://mcp.example";

/** How many of which build, and the vendor behind them. */
export interface FleetOptions {
  readonly processes: number;
  readonly bundle: string;
  readonly vendorUrl: string;
}

export interface Deployed<Target> {
  readonly target: Target;
  /** Where its processes start. */
  readonly folder: string;
  readonly fleet: Fleet;
}

/** A broker.yaml of all processes: the port of each is in its environment. */
export async function startBrokers(
  {
    processes,
    bundle,
    vendorUrl,
    env,
    ...place
  }: FleetOptions & Omit<BrokerPlace, "baseUrl"> & { readonly env?: Readonly<Record<string, string>> },
  stage: Stage,
): Promise<Deployed<BrokerTarget>> {
  const balancer = stage.addBehind(await startBalancer());
  const folder = stage.folder("brokers");
  const parties = createParties(vendorUrl, "", { codes: "named", scope: "read" });
  configureBroker(folder, { ...place, baseUrl: balancer.url }, [parties]);
  const fleet = await startFleet({ balancer, processes, bundle }, (file, port) =>
    startService({ name: "broker", file, folder, env: { ...env, HOST: "127.0.0.1", PORT: String(port) } }),
  );
  return { target: { url: balancer.url, parties }, folder, fleet: stage.add(fleet) };
}

export async function startServers(
  { processes, bundle, vendorUrl }: FleetOptions,
  { tableEnv }: AwsHarness,
  stage: Stage,
): Promise<Deployed<McpTarget>> {
  const balancer = stage.addBehind(await startBalancer());
  const folder = stage.folder("servers");
  const fleet = await startFleet({ balancer, processes, bundle }, (file, port) => {
    const env = mcpEnvironment(vendorUrl, String(port), { DEPLOYMENT_URL, ...tableEnv });
    return startService({ name: "MCP server", file, folder, env });
  });
  return { target: { at: balancer.url, host: new URL(DEPLOYMENT_URL).host }, folder, fleet: stage.add(fleet) };
}
