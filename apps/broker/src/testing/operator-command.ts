/** An operator's command in this process, with what it printed. */
import { join } from "node:path";
import { systemClock } from "@oauth-broker/oauth-core";
import { vi } from "vitest";
import type { Command } from "../cli/command-line.ts";
import { runOperatorCommand } from "../cli/operator.ts";
import type { Config } from "../config.ts";
import { folderOf, load, MINIMAL } from "../config/testing/config-file.ts";
import { createKeyset } from "../keys/keyset.ts";
import { openStores } from "../stores.ts";

export type OperatorCommand = Exclude<Command, { name: "serve" }>;

/** What a terminal shows. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runOn(load: () => Config, command: OperatorCommand): Promise<Printed> {
  const write = { stdout: vi.spyOn(process.stdout, "write"), stderr: vi.spyOn(process.stderr, "write") };
  for (const spy of Object.values(write)) spy.mockReturnValue(true);
  const text = (spy: (typeof write)["stdout"]): string => spy.mock.calls.map(([chunk]) => String(chunk)).join("");
  try {
    const code = await runOperatorCommand(command, load);
    return { code, stdout: text(write.stdout), stderr: text(write.stderr) };
  } finally {
    for (const spy of Object.values(write)) spy.mockRestore();
  }
}

/** A store in a new folder, with the keys that a broker has made. */
export async function storeWithKeys() {
  const folder = folderOf();
  const path = join(folder, "broker.sqlite");
  const config = load({ ...MINIMAL, store: `sqlite:${path}` });
  await makeKeys(config);
  return { folder, path, config };
}

/** Makes the keys of a store, as the start of a broker does. */
export async function makeKeys(config: Config): Promise<void> {
  const stores = await openStores(config, systemClock);
  await createKeyset({ storage: stores.keyset, floor: stores.floor, now: systemClock }).load();
  await stores.close();
}
