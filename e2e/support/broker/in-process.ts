/**
 * The broker inside the test, behind a real port: for tests that move its clock, take its store
 * away or read its log. Configured by the same YAML as a process, through the same loader.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@oauth-broker/oauth-core";
import { type Broker, createBroker } from "@oauth-broker/broker/src/app.ts";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { createLog, listen } from "@oauth-broker/service";
import { findSecrets } from "../secrets.ts";

export interface InProcessBroker {
  readonly broker: Broker;
  /** Log lines so far. */
  log(): readonly Readonly<Record<string, unknown>>[];
  /** @throws Error when a planted secret is in the log */
  close(): Promise<void>;
}

/**
 * @param options.now the machine's clock by default
 * @param options.env variables over the file, e.g. another PORT
 */
export async function startInProcessBroker(
  yaml: string,
  { now, env = {} }: { readonly now?: Clock; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<InProcessBroker> {
  const folder = mkdtempSync(join(tmpdir(), "oauth-broker-e2e-"));
  writeFileSync(join(folder, "broker.yaml"), yaml);
  const config = loadConfig(env, folder);
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const broker = await createBroker(config, { log, ...(now === undefined ? {} : { now }) });
  await broker.deps.keyset.load();
  const listening = await listen(broker.app, config.listen);
  return {
    broker,
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    close: async () => {
      await listening.stop(0);
      await broker.close();
      rmSync(folder, { recursive: true, force: true });
      const found = findSecrets(lines.join(""));
      if (found.length > 0) throw new Error(`The broker logged secrets: ${found.join(", ")}`);
    },
  };
}
