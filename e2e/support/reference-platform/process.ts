/**
 * The platform's deploy command as an author runs it: a process in the server's project, whose
 * server is the built template, configured by service.yaml. The data folder belongs to the
 * test, which can change what the Settings tab changes.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@oauth-broker/oauth-core";
import { initConnector } from "@oauth-broker/platform/src/deploy/commands/init.ts";
import type { SettingsChange } from "@oauth-broker/platform/src/connectors/connector.ts";
import { openStorage, type Storage } from "@oauth-broker/platform/src/storage.ts";
import { MCP_BUNDLE, PLATFORM_BUNDLE } from "../paths.ts";
import { startCommand, writeProject } from "./project.ts";
import { runService, type Service, spawnService, startService, temporaryFolder } from "../service-process.ts";

/** The platform's own address: its callback is the one that the vendors of mcp/vendor.ts know. */
const PLATFORM_URL = "https://platform.example";

export interface ProjectOptions {
  /** service.yaml without its `environment`. */
  readonly yaml: string;
  /** Variables of the server: service.yaml names each, and the deploying process has the values. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command that starts the server; by default the template. */
  readonly start?: string;
  /** The server writes its environment to a file before it starts. */
  readonly keepsEnvironment?: boolean;
  readonly platformUrl?: string;
  /** Variables of the platform alone, e.g. its access to a broker. */
  readonly platformEnv?: Readonly<Record<string, string>>;
}

export const DEPLOYERS_OWN = "canary-of-the-deploying-process";

const TEMPLATE = startCommand(MCP_BUNDLE);

export type ServerProject = ReturnType<typeof serverProject>;
export function serverProject({
  yaml,
  env = {},
  start: command = TEMPLATE,
  keepsEnvironment,
  platformUrl = PLATFORM_URL,
  platformEnv = {},
}: ProjectOptions) {
  const folder = temporaryFolder();
  const data = join(folder, "platform-data");
  writeProject(folder, yaml, env, keepsEnvironment === true ? `env > environment.txt && ${command}` : command);
  // The deployer allows the server everything that its service.yaml names.
  const allowed = Object.keys(env).map((name) => `--env=${name}`);
  const service: Service & { readonly folder: string } = {
    name: "platform",
    file: PLATFORM_BUNDLE,
    folder,
    // A variable that service.yaml does not name, which the server must not receive.
    env: { ...env, ...platformEnv, PLATFORM_URL: platformUrl, SECRET_OF_THE_DEPLOYER: DEPLOYERS_OWN },
  };
  const withStorage = async <T>(act: (storage: Storage) => Promise<T>) => {
    const storage = await openStorage(data, systemClock, { allowCidrs: [] });
    try {
      return await act(storage);
    } finally {
      await storage.close();
    }
  };
  return {
    /** `deploy init`, in this process. */
    init: () =>
      withStorage(async (storage) => {
        const config = { platformUrl, dataDir: data, allowCidrs: [] };
        const silent = { say: () => undefined, print: () => undefined };
        await initConnector(".", { config, storage, now: systemClock, environment: {}, start: folder, ...silent });
      }),
    /** Runs until it ends by itself: `init`, `status`, and a `run` that activates nothing. */
    deploy: (...args: string[]) => runService(service, "deploy", ...args, ...(args[0] === "run" ? allowed : [])),
    /**
     * Keeps running.
     * @throws Error with its output, when nothing was activated
     */
    start: async () => {
      const started = await startService({ ...service, args: ["deploy", "run", ...allowed] });
      return { ...started, url: new URL(started.url).origin, mcp: started.url };
    },
    /** The pages, at `platformUrl`, on the same data folder. */
    serve: () => startService({ ...service, args: ["serve"] }),
    /** A run that is killed as soon as it prints this. */
    killWhen: async (said: string) => {
      const child = spawnService(service, ["deploy", "run", ...allowed], folder);
      const ended = once(child, "exit");
      child.stderr.setEncoding("utf8").on("data", (text: string) => text.includes(said) && child.kill("SIGKILL"));
      await ended;
    },
    /** As on the Settings tab. */
    changeSettings: (change: SettingsChange) =>
      withStorage(async ({ connectors }) => void (await connectors.changeSettings("notes", change))),
    connector: () => withStorage(({ connectors }) => connectors.find("notes")),
    /** The environment the server was started with; with `keepsEnvironment`. */
    environment: (): Readonly<Record<string, string>> => {
      const lines = readFileSync(join(folder, "environment.txt"), "utf8").trimEnd().split("\n");
      return Object.fromEntries(lines.map((line) => [line.replace(/=.*/s, ""), line.replace(/^[^=]*=/, "")]));
    },
  };
}
