/** The edges that every service of ours shares: routes, log lines, limits, the listener, pages. */
export { type Cors, createCors, readableByAll, withCors } from "./cors.ts";
export { faviconRoute } from "./favicon.ts";
export { errorPageWith, type WayBack } from "./error-page.ts";
export {
  bufferedStdout,
  createLog,
  errorFields,
  jsonText,
  type Log,
  type LogDestination,
  type LogFieldName,
  type LogFields,
} from "./log.ts";
export {
  askFirst,
  type BackLink,
  fact,
  hidden,
  html,
  type Markup,
  page,
  type RefusedPage,
  STYLE_HASH,
} from "./page.ts";
export { createRateLimit, type RateLimit } from "./rate-limit.ts";
export { type HttpLayer, mount, type RequestMetrics, type Route, type Trace } from "./http-layer.ts";
export { isPrefetch } from "./listener/prefetch.ts";
export { networkOf, plainAddress } from "./listener/peer-network.ts";
export { explainStartFailure, inTool, onStopSignal, runService, toolOfContext } from "./run-service.ts";
export { HTTP_TIMEOUTS, type HttpTimeouts, listen, type Listening, type ListenOptions } from "./serve.ts";
export { endSpan, type SpanFacts, startVendorSpan } from "./tracing/spans.ts";
export type { Tracing } from "./tracing/exporter.ts";
export { startTracing } from "./tracing/start.ts";
export {
  type VendorCallMetrics,
  type VendorCallWatch,
  type VendorOperation,
  watchedVendorClient,
} from "./tracing/vendor-calls.ts";
