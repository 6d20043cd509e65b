/**
 * `/favicon.ico`, which every browser asks for by itself: there is none. Without this each visit of
 * a page would leave a 404 in the log and in the metrics.
 */
import { emptyAnswer } from "@oauth-broker/oauth-core/http";
import type { Route } from "./http-layer.ts";

/** Answers that there is no icon. */
export const faviconRoute: Route = {
  method: "GET",
  path: "/favicon.ico",
  surface: "api",
  quiet: true,
  handle: () => emptyAnswer({}),
};
