/** Where HTTP meets the flows: routes, bodies read under a limit, other origins, error pages. */
export { type BodyLimit, queryText, readForm, readFormText, readJsonText, readQuery, requireNoCoding } from "./body.ts";
export { type Cors, createCors, readableByAll, withCors } from "./cors.ts";
export { type ErrorPageLook, errorPageWith, type WayBack } from "./error-page.ts";
export { ENGLISH_ERRORS, type ErrorTexts } from "./error-texts.ts";
export { faviconRoute } from "./favicon.ts";
export {
  apiRoute,
  type HttpLayer,
  mount,
  pageRoute,
  type RequestMetrics,
  type Route,
  type Trace,
} from "./http-layer.ts";
export { foreignHostDetail, isHostOf, quoteHeader, requireOwnPage } from "./own-host.ts";
export { createRateLimit, type RateLimit } from "./rate-limit.ts";
