/** What every service of ours is at its edges: routes, log lines, limits, the listener, the look of its pages. */
export { createLog, errorFields, type Log, type LogDestination, type LogFieldName, type LogFields } from "./log.ts";
export { escapeHtml, page, STYLE_HASH } from "./page.ts";
export { createRateLimit, type RateLimit } from "./rate-limit.ts";
export { mount, type RequestMetrics, type Rim, type Route, type Trace } from "./rim.ts";
export { listen, type Listening } from "./serve.ts";
