/**
 * The broker inside the test: for tests that move its clock, take its store away or read its log.
 * Configured by the same YAML as a process, through the same loader.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Broker, createBroker } from "@oauth-broker/broker/src/app.ts";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { listen } from "@oauth-broker/service";
import { keepLog, type KeptLog, temporaryFolder } from "../service-process.ts";

export interface InProcessBroker {
  readonly broker: Broker;
  /** Log lines so far. */
  log(): readonly Readonly<Record<string, unknown>>[];
  /** @throws Error when a planted secret is in the log */
  close(): Promise<void>;
}

type Deps = Partial<Pick<Parameters<typeof createBroker>[1], "now" | "egress">>;

export interface OpenBrokerOptions extends Deps {
  /** Variables over the file, e.g. another PORT. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface OpenBroker {
  readonly broker: Broker;
  readonly config: ReturnType<typeof loadConfig>;
  /** Of broker.yaml. */
  readonly folder: string;
  readonly kept: KeptLog;
}

/** Without a port. */
export async function openBroker(yaml: string, { env = {}, ...deps }: OpenBrokerOptions = {}): Promise<OpenBroker> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "broker.yaml"), yaml);
  const config = loadConfig(env, folder);
  const kept = keepLog("broker");
  const broker = await createBroker(config, { log: kept.log, ...deps });
  await broker.deps.keyset.load();
  return { broker, config, folder, kept };
}

/** Behind a real port. */
export async function startInProcessBroker(yaml: string, options: OpenBrokerOptions = {}): Promise<InProcessBroker> {
  const { broker, config, kept } = await openBroker(yaml, options);
  const listening = await listen(broker.app, config.listen);
  return {
    broker,
    log: () => kept.lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    close: async () => {
      await listening.stop(0);
      await broker.close();
      kept.requireClean();
    },
  };
}
