import { Hono } from "hono";
import { errorPageWith } from "../http/error-page.ts";
import { type HttpLayer, mount, type Route } from "../http/http-layer.ts";
import { createLog } from "../log.ts";

/** @returns an application with these routes, and the lines of its log */
export function mounted(
  routes: readonly Route[],
  layer: Partial<HttpLayer> = {},
): { readonly app: Hono; readonly lines: string[] } {
  const lines: string[] = [];
  const app = new Hono();
  const log = createLog({ write: (line) => void lines.push(line) });
  mount(app, routes, { log, errorPage: errorPageWith(), isHttps: false, ...layer });
  return { app, lines };
}
