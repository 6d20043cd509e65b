/**
 * Runs the deploy commands in this process, on a data folder of the test; servers are real
 * processes.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@oauth-broker/service/configuration";
import { createLog } from "@oauth-broker/service";
import type { CommandContext } from "../deploy/commands/context.ts";
import { initConnector } from "../deploy/commands/init.ts";
import { runDeploy } from "../deploy/commands/run.ts";
import { showLogs, showStatus } from "../deploy/commands/status.ts";
import { NOW, openTestStorage, type TestStorage } from "./test-storage.ts";

const ENTRY = join(import.meta.dirname, "..", "main.ts");

export interface Running {
  /** The line on stdout, once the outcome is known. */
  readonly outcome: Promise<Readonly<Record<string, string>>>;
  /**
   * Stops the deploy.
   * @returns the exit code
   */
  stop(): Promise<number>;
  /** The exit code, when it ends by itself. */
  readonly code: Promise<number>;
}

export interface DeployFixture {
  readonly storage: TestStorage;
  readonly folder: string;
  /** Everything printed for the operator so far. */
  said(): string;
  printed(): readonly string[];
  init(): Promise<number>;
  run(allowed?: readonly string[]): Running;
  status(json?: boolean): Promise<number>;
  logs(): Promise<number>;
  close(): Promise<void>;
}

/**
 * @param folder the server's project; removed at the end
 * @param variables of the deploying process, in addition to PATH
 */
export async function openDeployFixture(folder: string, variables: Environment = {}): Promise<DeployFixture> {
  const storage = await openTestStorage();
  const said: string[] = [];
  const printed: string[] = [];
  const running = new Set<Running>();
  const context: CommandContext = {
    config: { platformUrl: "http://127.0.0.1:8789", dataDir: storage.folder, allowCidrs: [] },
    storage,
    now: () => NOW,
    environment: { PATH: process.env["PATH"], ...variables },
    start: folder,
    say: (text) => void said.push(text),
    print: (text) => void printed.push(text),
  };
  const log = createLog({ write: () => undefined });

  const run = (allowed: readonly string[] = []): Running => {
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
    const one: Running = {
      outcome: outcome.promise,
      code,
      stop: () => {
        stopped.resolve();
        return code;
      },
    };
    running.add(one);
    return one;
  };

  return {
    storage,
    folder,
    said: () => said.join("\n"),
    printed: () => printed,
    init: () => initConnector(".", context),
    run,
    status: (json = false) => showStatus(".", { json }, context),
    logs: () => showLogs(".", { lines: 50 }, context),
    close: async () => {
      await Promise.allSettled([...running].map((one) => one.stop()));
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
