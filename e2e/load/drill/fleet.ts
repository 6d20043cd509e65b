/**
 * The processes of one service behind a balancer, on one table and one KMS key, or a broker on a
 * SQLite file: rolled to another build one by one, killed, or all down for a time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AwsHarness } from "../../support/aws/aws.ts";
import { freePort } from "../../support/free-port.ts";
import { BROKER_BUNDLE, MCP_BUNDLE } from "../../support/paths.ts";
import { type ServiceProcess, startService } from "../../support/service-process.ts";
import { type BrokerPlace, configureBroker, createParties, mcpEnvironment } from "../services.ts";
import type { Stage } from "../stage.ts";
import { startBalancer } from "./balancer.ts";

/** Paths of the built files of one commit. */
export type Bundles = Readonly<Record<"broker" | "mcp", string>>;
export const THIS_BUILD: Bundles = { broker: BROKER_BUNDLE, mcp: MCP_BUNDLE };

/** TLS ends at the balancer. */
const DEPLOYMENT_URL = "https://mcp.example";

/** How many of which build, and the vendor behind them. */
interface FleetOptions {
  readonly processes: number;
  readonly bundle: string;
  readonly vendorUrl: string;
}
type BrokersOptions = Omit<BrokerPlace, "baseUrl"> & Partial<Pick<AwsHarness, "env">> & FleetOptions;

/** @returns also their folder, with a broker.yaml of all: the port of each is in its environment */
export async function startBrokers({ processes, bundle, vendorUrl, env, ...place }: BrokersOptions, stage: Stage) {
  const folder = stage.folder("brokers");
  const parties = createParties(vendorUrl, "", { codes: "named", scope: "read" });
  const { url, fleet } = await startFleet({ processes, bundle }, stage, (at) => {
    configureBroker(folder, { ...place, baseUrl: at }, [parties]);
    return (file, port) =>
      startService({ name: "broker", file, folder, env: { ...env, HOST: "127.0.0.1", PORT: String(port) } });
  });
  return { target: { url, parties }, folder, fleet };
}

/** @returns `at`: where requests go; `host`: what the deployment calls itself */
export async function startServers(
  { processes, bundle, vendorUrl }: FleetOptions,
  { tableEnv }: AwsHarness,
  stage: Stage,
) {
  const folder = stage.folder("servers");
  const { url, fleet } = await startFleet({ processes, bundle }, stage, () => (file, port) => {
    const env = mcpEnvironment(vendorUrl, String(port), { DEPLOYMENT_URL, ...tableEnv });
    return startService({ name: "MCP server", file, folder, env });
  });
  return { target: { at: url, host: new URL(DEPLOYMENT_URL).host }, fleet };
}

interface Member {
  readonly port: number;
  readonly process: ServiceProcess;
}

/**
 * @param startAt gets the URL of the balancer, and gives what starts a process of a build on a port
 * @throws Error when a process does not become ready
 */
async function startFleet(
  { processes, bundle }: Pick<FleetOptions, "processes" | "bundle">,
  stage: Stage,
  startAt: (url: string) => (bundle: string, port: number) => Promise<ServiceProcess>,
) {
  const balancer = stage.addBehind(await startBalancer());
  const start = startAt(balancer.url);
  let current = bundle;
  let members: Member[] = [];
  const add = async (): Promise<void> => {
    const port = await freePort();
    const process = await start(current, port);
    members = [...members, { port, process }];
    balancer.add(port);
    for (let tries = 0; !balancer.isReady(port); tries += 1) {
      if (tries > 300) throw new Error(`${process.url} did not become ready:\n${process.stderr()}${process.stdout()}`);
      await sleep(100);
    }
  };
  const end = async ({ port, process }: Member): Promise<void> => {
    await process.stop();
    balancer.remove(port);
  };
  const addAll = async (): Promise<void> => void (await Promise.all(Array.from({ length: processes }, add)));
  const stop = async (): Promise<void> => {
    await Promise.all(members.map(end));
    members = [];
  };
  await addAll();
  const fleet = stage.add({
    /** Replaces each process by one of this build, which is ready before the old process gets SIGTERM. */
    rollTo: async (next: string) => {
      current = next;
      for (const old of members) {
        await add();
        await end(old);
        members = members.filter((member) => member !== old);
      }
    },
    /** SIGKILL to the first process. @returns starts another for it */
    kill: async () => {
      const [first, ...others] = members;
      if (first === undefined) throw new Error("There is no process to kill");
      first.process.signal("SIGKILL");
      await first.process.exited();
      members = others;
      return async () => {
        balancer.remove(first.port);
        await add();
      };
    },
    /** Stops all, which start again after `act`. The balancer cuts connections until then. */
    whileDown: async (act: () => void) => {
      await stop();
      act();
      await addAll();
    },
    /** Ends the processes by SIGTERM, and leaves none. */
    stop,
  });
  return { url: balancer.url, fleet };
}
