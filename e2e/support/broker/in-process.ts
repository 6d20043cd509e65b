/**
 * The broker inside the test: for tests that move its clock, take its store away or read its log.
 * Configured by the same YAML as a process, through the same loader.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBroker } from "@oauth-broker/broker/src/app.ts";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { listen } from "@oauth-broker/service";
import { keepLog, temporaryFolder } from "../service-process.ts";

/** `env`: variables over the file, e.g. another PORT. */
type OpenBrokerOptions = Partial<Pick<Parameters<typeof createBroker>[1], "now" | "egress">> & {
  readonly env?: Readonly<Record<string, string>>;
};

/** Without a port. @returns `folder` of broker.yaml */
export async function openBroker(yaml: string, { env = {}, ...deps }: OpenBrokerOptions = {}) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "broker.yaml"), yaml);
  const config = loadConfig(env, folder);
  const kept = keepLog("broker");
  const broker = await createBroker(config, { log: kept.log, ...deps });
  await broker.deps.keyset.load();
  return { broker, config, folder, kept };
}

export type InProcessBroker = Awaited<ReturnType<typeof startInProcessBroker>>;
/** Behind a real port. @returns `folder` of broker.yaml */
export async function startInProcessBroker(yaml: string, options: OpenBrokerOptions = {}) {
  const { broker, config, folder, kept } = await openBroker(yaml, options);
  const listening = await listen(broker.app, config.listen);
  return {
    broker,
    folder,
    /** Log lines so far. */
    log: () => kept.lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    /** @throws Error when a planted secret is in the log */
    close: async () => {
      await listening.stop(0);
      await broker.close();
      kept.requireClean();
    },
  };
}
