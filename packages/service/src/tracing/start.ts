/** Starts the sending of spans if a collector is configured. */
import type { TracingSettings } from "../configuration/tracing.ts";
import type { Log } from "../log.ts";
import type { Tracing } from "./exporter.ts";

/**
 * Loads the OpenTelemetry SDK, unless the settings are undefined.
 *
 * @param defaultName of the service, if the environment names none
 */
export async function startTracing(
  settings: TracingSettings | undefined,
  defaultName: string,
  log: Pick<Log, "warn">,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { startExporter } = await import("./exporter.ts");
  return startExporter(settings, defaultName, log);
}
