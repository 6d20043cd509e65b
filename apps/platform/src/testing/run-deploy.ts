/**
 * Runs the deploy commands in this process, on a data folder of the test; servers are real
 * processes.
 */
import { join } from "node:path";
import type { Environment } from "@oauth-broker/service/configuration";
import { createLog } from "@oauth-broker/service";
import type { Connector } from "../connectors/connector.ts";
import type { CommandContext } from "../deploy/commands/context.ts";
import { initConnector } from "../deploy/commands/init.ts";
import { runDeploy } from "../deploy/commands/run.ts";
import { showLogs, showStatus } from "../deploy/commands/status.ts";
import { NOW, openTestStorage } from "./test-storage.ts";

export const PLATFORM = "http://127.0.0.1:8789";
const ENTRY = join(import.meta.dirname, "..", "main.ts");

export type DeployFixture = Awaited<ReturnType<typeof openDeployFixture>>;

/**
 * @param folder the server's project
 * @param variables of the deploying process, in addition to PATH
 */
export async function openDeployFixture(folder: string, variables: Environment = {}) {
  const storage = await openTestStorage();
  const said: string[] = [];
  const printed: string[] = [];
  const running = new Set<() => Promise<number>>();
  const context: CommandContext = {
    config: { platformUrl: PLATFORM, dataDir: storage.folder, allowCidrs: [] },
    storage,
    now: () => NOW,
    environment: { PATH: process.env["PATH"], ...variables },
    start: folder,
    say: (text) => void said.push(text),
    print: (text) => void printed.push(text),
  };
  const log = createLog({ write: () => undefined });

  const run = (allowed: readonly string[] = []) => {
    const stopped = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<Readonly<Record<string, string>>>();
    outcome.promise.catch(() => undefined);
    const print = (text: string): void => outcome.resolve(JSON.parse(text) as Record<string, string>);
    const keeper = { file: ENTRY };
    const code = runDeploy(".", { ...context, allowed, print, log, keeper, stopped: stopped.promise });
    code.catch(() => undefined);
    void code.then(
      (ended) => outcome.reject(new Error(`ended with ${ended} and no outcome:\n${said.join("\n")}`)),
      (error: unknown) => outcome.reject(error instanceof Error ? error : new Error("failed")),
    );
    const stop = (): Promise<number> => {
      stopped.resolve();
      return code;
    };
    running.add(stop);
    /** `outcome`: the line on stdout, once it is known. `code`: when it ends by itself. */
    return { outcome: outcome.promise, code, stop };
  };

  return {
    storage,
    folder,
    /** Everything printed for the operator so far. */
    said: () => said.join("\n"),
    lastSaid: () => said.at(-1),
    printed: (): readonly string[] => printed,
    init: (callback?: Connector["callback"]) => initConnector(".", context, callback),
    run,
    status: (json = false) => showStatus(".", { json }, context),
    logs: () => showLogs(".", { lines: 50 }, context),
    close: async () => {
      await Promise.allSettled([...running].map((stop) => stop()));
      await storage.close();
    },
  };
}
