/**
 * `platform serve`: serves the pages on a port of this machine until a signal. Prints the log on
 * stdout; its first line has the address.
 */
import { listen } from "@oauth-broker/service";
import { createPlatform } from "./app.ts";
import { EXIT } from "./cli.ts";
import type { ServeConfig } from "./config.ts";
import type { RunContext } from "./deploy/commands/run.ts";
import { callbackWarning } from "./oauth/redirect-uri.ts";

/**
 * @returns the exit code
 * @throws Error for a port that is taken
 */
export async function serve(
  { port, maxConnections, ...options }: ServeConfig,
  { storage, log, say, stopped }: Pick<RunContext, "storage" | "log" | "say" | "stopped">,
): Promise<number> {
  // Before anything is opened: it shows whether the data folder can be read.
  const connectors = await storage.connectors.list();
  const platform = createPlatform(options, { storage, log });
  const listening = await listen(platform.app, { host: "127.0.0.1", port, maxConnections });
  log.info("listening", { url: options.platformUrl, pid: process.pid });
  log.flush();
  say(`Open ${options.platformUrl}`);
  for (const connector of connectors) {
    const warning = callbackWarning(connector, options.platformUrl);
    if (warning === undefined) continue;
    log.warn("shared_callback", { detail: connector.id });
    say(`Warning: ${warning}`);
  }
  const endEvents = platform.startEvents();
  await stopped;
  await listening.stop(0);
  await endEvents();
  await platform.close();
  log.flush();
  return EXIT.done;
}
