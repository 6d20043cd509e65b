/** The sandbox inside the test, composed as `npm start` composes it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { start } from "@oauth-broker/broker/src/start.ts";
import { freePort } from "../free-port.ts";
import { plantSecret } from "../secrets.ts";
import { keepLog, temporaryFolder } from "../service-process.ts";

export interface SandboxOptions {
  /** Default: a temporary one. */
  readonly folder?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Kept by the sandbox, which makes its own otherwise. */
  readonly client?: { readonly id: string; readonly secret: string; readonly redirectUris: readonly string[] };
}

export type InProcessSandbox = Awaited<ReturnType<typeof startInProcessSandbox>>;
export async function startInProcessSandbox({ folder = temporaryFolder(), port, client }: SandboxOptions = {}) {
  const config = loadConfig({ PORT: String(port ?? (await freePort())) }, folder);
  const { log, lines, requireClean } = keepLog("sandbox");
  const data = join(folder, "data");
  const clientFile = join(data, "sandbox-client.json");
  if (client !== undefined) {
    plantSecret("client secret", client.secret);
    mkdirSync(data);
    const kept = { client_id: client.id, client_secret: client.secret, more_redirect_uris: client.redirectUris };
    writeFileSync(clientFile, JSON.stringify(kept), { mode: 0o600 });
  }
  const { greeting, stop } = await start(config, log, { clientFile });
  return {
    /** The broker's. */
    url: config.baseUrl,
    /** The platform's: what a new user opens. */
    home: /Open +(http:\S+)/.exec(greeting)?.[1] ?? "",
    /** With the client's id and secret, for programs. */
    folder: data,
    /** The variables that it writes for a backend in development. */
    settings: parseEnv(readFileSync(join(data, "sandbox.env"), "utf8")) as Record<string, string>,
    /** The log so far. */
    lines,
    /** @throws Error when a planted secret is in the log */
    stop: async () => {
      await stop();
      requireClean(greeting);
    },
  };
}
