/** The broker's metrics: those of every service, and its refresh replays and keyset. GET /metrics renders them. */
import { createServiceMetrics, type ServiceMetricsOptions } from "@oauth-broker/service/metrics";

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(options: Omit<ServiceMetricsOptions, "prefix"> = {}) {
  const metrics = createServiceMetrics({ prefix: "broker", ...options });
  const countReplay = metrics.counter(
    "refresh_replays_total",
    "Refreshes answered from the sealed answer of a parallel one",
    {},
  );
  const countFailure = metrics.counter("keyset_failures_total", "Loads of the keyset that failed, one a second", {});
  return {
    ...metrics,
    /** A refresh answered from the sealed result of another request's vendor call. */
    countRefreshReplay: () => countReplay({}),
    /** The keyset could not be loaded, by a process that may have it from before. */
    countKeysetFailure: () => countFailure({}),
  };
}
