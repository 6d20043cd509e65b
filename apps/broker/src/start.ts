/**
 * Starts a broker from its configuration and stops it on a signal. Runs the sandbox beside it
 * without a configuration, loads the keys as soon as the store answers, and prints one JSON line
 * with `url` when it listens.
 */
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Broker, createBroker } from "./app.ts";
import type { Config } from "./config.ts";
import { defined } from "@oauth-broker/oauth-core";
import { createCidrMatcher } from "@oauth-broker/oauth-core/egress";
import { type HttpTimeouts, listen, type Listening, type Log, type LogDestination } from "@oauth-broker/service";
import { startTracing } from "@oauth-broker/service/tracing";
import { type Sandbox, startSandbox } from "./sandbox.ts";

const CLOSE_MS = 2_000;
const KEY_RETRY_MS = 1_000;
/** Short enough that every process reads a rotation well before the new key becomes active. */
const KEY_RELOAD_MS = 20_000;

export interface StartOptions {
  /** Where the sandbox writes its client. */
  readonly clientFile?: string;
  /** Default 2,000. Load balancers have this long to notice that /readyz fails. */
  readonly graceMs?: number;
  /** Others than `HTTP_TIMEOUTS`. */
  readonly httpTimeouts?: Partial<HttpTimeouts>;
  /** Where the log writes, for `audit: stdout`. */
  readonly stdout?: LogDestination;
}

/** @throws Error with `code` EADDRINUSE and the like when the port is not available */
export async function start(
  config: Config,
  log: Log,
  { clientFile = resolve("data/sandbox-client.json"), graceMs = 2_000, httpTimeouts, stdout }: StartOptions = {},
) {
  const tracing = await startTracing(config.tracing, "oauth-broker", log);
  let sandbox: Sandbox | undefined;
  let broker: Broker | undefined;
  let stopKeys: (() => void) | undefined;
  let server: Listening | undefined;
  try {
    sandbox = config.sandbox ? await startSandbox(config, clientFile, log) : undefined;
    broker = await createBroker(sandbox?.config ?? config, {
      log,
      sandboxUrl: () => sandbox?.url,
      ...defined({ stdout }),
    });
    sandbox?.attach(broker);
    stopKeys = keepKeysLoaded(broker, await broker.loadKeys());
    const { trustedProxies, ...at } = config.listen;
    server = await listen(broker.app, { ...at, isTrustedProxy: createCidrMatcher(trustedProxies) }, httpTimeouts);
    const { audit, keyset } = broker.deps;
    // Before the first request, in the same turn of the event loop. With the key in use, so that a
    // rotation shows that happened while no process ran.
    void audit.record("configuration_loaded", keyset.isLoaded() ? { kid: keyset.active("state").kid } : {});
    await sandbox?.publish();
  } catch (error) {
    stopKeys?.();
    await server?.stop(0);
    await sandbox?.close();
    await broker?.close();
    await tracing?.stop();
    throw error;
  }
  for (const warning of config.warnings) log.warn("configuration_warning", { warning });
  log.info("listening", {
    url: config.baseUrl,
    port: server.port,
    pid: process.pid,
    sandbox: config.sandbox,
    store: config.store.kind,
    file: sandbox?.clientFile,
  });
  log.flush();
  return {
    /** Text for stderr: the addresses to open. */
    greeting: greet(config, sandbox),
    stop: async (): Promise<void> => {
      stopKeys();
      broker.drain();
      await server.stop(config.sandbox ? 0 : graceMs);
      // Does not wait for vendor calls that outlast the drain: the whole stop takes less than 15 s.
      await Promise.race([
        Promise.all([sandbox?.close(), broker.close(), tracing?.stop()]),
        sleep(CLOSE_MS, undefined, { ref: false }),
      ]);
      log.flush();
    },
  };
}

/**
 * A store that is down at start does not stop the process: /readyz reports it, and this retries
 * until the store answers.
 */
function keepKeysLoaded(broker: Broker, isLoaded: boolean): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const run = async (): Promise<void> => {
    let wait = isLoaded ? KEY_RELOAD_MS : KEY_RETRY_MS;
    for (;;) {
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
      // The store is about to be closed.
      if (signal.aborted) return;
      wait = (await broker.loadKeys()) ? KEY_RELOAD_MS : KEY_RETRY_MS;
    }
  };
  void run();
  return () => stopped.abort();
}

function greet(config: Config, sandbox: Sandbox | undefined): string {
  if (sandbox === undefined) return `Broker listening at ${config.baseUrl}`;
  return [
    "",
    "  The sandbox is running: a broker, practice vendors and a platform, all on this machine.",
    "",
    `  Open    ${sandbox.url}`,
    `  Broker  ${config.baseUrl}`,
    `  Client  ${sandbox.clientFile} (id and secret, for your own scripts)`,
    "",
    "  Stop with Ctrl-C.",
    "",
  ].join("\n");
}
