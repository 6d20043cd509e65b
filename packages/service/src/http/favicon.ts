/**
 * `/favicon.ico`, which every browser asks for by itself: this service has none. Without this each
 * visit of a page would leave a 404 in the log and in the metrics.
 */
import { emptyAnswer } from "@oauth-broker/oauth-core/http";
import type { Route } from "./http-layer.ts";

/** Answers that no icon exists. */
export const faviconRoute: Route = {
  method: "GET",
  path: "/favicon.ico",
  surface: "api",
  quiet: true,
  handle: () => emptyAnswer({}),
};
