/** Trace ids and spans of requests, and the watch on calls to vendors. */
export type { Tracing } from "./exporter.ts";
export { endSpan, type SpanFacts, startVendorSpan } from "./spans.ts";
export { startTracing } from "./start.ts";
export {
  type VendorCallMetrics,
  type VendorCallWatch,
  type VendorOperation,
  watchedVendorClient,
} from "./vendor-calls.ts";
