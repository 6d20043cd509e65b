/**
 * `/favicon.ico`, which every browser asks for by itself: this service has none. Without this each
 * visit of a page would leave a 404 in the log and in the metrics.
 */
import { emptyAnswer } from "@oauth-broker/oauth-core/http";
import { apiRoute, type Route } from "./http-layer.ts";

/** Answers that no icon exists. */
export const faviconRoute: Route = apiRoute("GET", "/favicon.ico", () => emptyAnswer({}), { quiet: true });
