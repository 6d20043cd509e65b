/** The sandbox inside the test, composed as `npm start` composes it. */
import { join } from "node:path";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { start } from "@oauth-broker/broker/src/start.ts";
import { createLog } from "@oauth-broker/service";
import { freePort } from "../free-port.ts";
import { requireCleanOutput, temporaryFolder } from "../service-process.ts";

export interface InProcessSandbox {
  /** Of the broker. */
  readonly url: string;
  /** Of the platform: what a new user opens. */
  readonly home: string;
  /** With the client's id and secret, for programs. */
  readonly folder: string;
  /** @throws Error when a planted secret is in the log */
  stop(): Promise<void>;
}

export async function startInProcessSandbox(): Promise<InProcessSandbox> {
  const folder = temporaryFolder();
  const config = loadConfig({ PORT: String(await freePort()) }, folder);
  let lines = "";
  const log = createLog({ write: (line) => void (lines += line) });
  const data = join(folder, "data");
  const { greeting, stop } = await start(config, log, { clientFile: join(data, "sandbox-client.json") });
  return {
    url: config.baseUrl,
    home: /Open +(http:\S+)/.exec(greeting)?.[1] ?? "",
    folder: data,
    stop: async () => {
      await stop();
      requireCleanOutput("sandbox", { stdout: () => lines, stderr: () => greeting });
    },
  };
}
