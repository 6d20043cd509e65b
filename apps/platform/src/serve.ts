/**
 * `platform serve`: serves the pages on a port of this machine until a signal. Prints the log on
 * stdout; its first line has the address.
 */
import { systemTimer } from "@oauth-broker/oauth-core";
import { listen, type Log } from "@oauth-broker/service";
import { startSweep } from "@oauth-broker/service/events";
import { createPlatform } from "./app.ts";
import { EXIT } from "./cli.ts";
import type { ServeConfig } from "./config.ts";
import { callbackWarning } from "./oauth/redirect-uri.ts";
import type { Storage } from "./storage.ts";

export interface ServeDeps {
  readonly storage: Storage;
  readonly log: Log;
  readonly say: (text: string) => void;
  /** Settles at a signal to stop. */
  readonly stopped: Promise<void>;
}

const EVENTS_MS = 5_000;

/**
 * @returns the exit code
 * @throws Error for a port that is taken
 */
export async function serve(
  { port, maxConnections, ...options }: ServeConfig,
  { storage, log, say, stopped }: ServeDeps,
): Promise<number> {
  const platform = createPlatform(options, { storage, log });
  const listening = await listen(platform.app, { host: "127.0.0.1", port, maxConnections });
  log.info("listening", { url: options.platformUrl, pid: process.pid });
  log.flush();
  say(`Open ${options.platformUrl}`);
  for (const connector of await storage.connectors.list()) {
    const warning = callbackWarning(connector, options.platformUrl);
    if (warning === undefined) continue;
    log.warn("shared_callback", { detail: connector.id });
    say(`Warning: ${warning}`);
  }
  const { events } = platform;
  const endSweeps = events === undefined ? undefined : startSweep(events.sweep, EVENTS_MS, systemTimer);
  await stopped;
  await listening.stop(0);
  await endSweeps?.();
  // What was noted since the last round is kept, and sent after the next start.
  await events?.sweep(AbortSignal.abort());
  await platform.close();
  log.flush();
  return EXIT.done;
}
