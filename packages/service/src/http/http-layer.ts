/**
 * Where HTTP meets the flows: each route parses, calls one flow, and this file turns the outcome
 * into a response, a log line and a metric. Shared by the broker and scaffolded servers; nothing
 * generic wraps a hot request.
 */
import { randomUUID } from "node:crypto";
import type { Context, Hono } from "hono";
import { type Answer, errorAnswer, pageAnswer } from "@oauth-broker/oauth-core/http";
import { OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import { inContext } from "../request-context.ts";
import { errorFields, type Log, type LogFields } from "../log.ts";
import { isPrefetch } from "../listener/prefetch.ts";
import { html, page, type RefusedPage, STYLE_HASH } from "../page.ts";
import { endSpan, type SpanFacts, startRequestSpan } from "../tracing/spans.ts";

/** What is known about a request, filled in while it is handled; logged and counted here. */
export interface Trace {
  /** 32 hexadecimal digits: the caller's, by a valid `traceparent`, or new. */
  readonly traceId?: string;
  flowId?: string;
  clientId?: string;
  vendor?: string;
  credentialsId?: string;
  /** Names an unexpected internal error in the response and in the log. */
  referenceId?: string;
  /**
   * An error that was returned as a redirect: reported to the client, and logged like one returned
   * as JSON.
   */
  failure?: OAuthError;
  /** A secondary failure, although the request itself succeeded. */
  warning?: string;
  /** Why a browser saw the 400 page, in one word: `state_replayed`, `browser_mismatch`, … */
  reason?: string;
}

/** One method and path, and the function that answers. */
export interface Route {
  readonly method: "GET" | "POST";
  /** A Hono pattern; also the label of the request's metrics. */
  readonly path: string;
  /** Who sees errors: a backend gets JSON, a browser a page. */
  readonly surface: "api" | "browser";
  /** Probes and scrapes are counted but not logged, and have no span. */
  readonly quiet?: boolean;
  /** @returns a Response only if a library made the whole of it */
  readonly handle: (c: Context, trace: Trace) => Promise<Answer | Response> | Answer | Response;
  /**
   * Handles a request with a method that the path does not serve.
   *
   * @returns the response to use instead of the 405, if any
   */
  readonly otherMethods?: (c: Context, trace: Trace) => Promise<Answer | undefined> | Answer | undefined;
  /** For a page that no application sends the browser to: its error page has its own words. */
  readonly refused?: RefusedPage;
  /** Set by `withCors`: pages of other origins may read every response. Absent: none may. */
  readonly cors?: { headersFor(origin: string | undefined): Readonly<Record<string, string>> };
}

type Parts = [method: Route["method"], path: string, handle: Route["handle"], more?: Partial<Route>];

/** A route that backends call. */
export function apiRoute(...[method, path, handle, more]: Parts): Route {
  return { method, path, surface: "api", handle, ...more };
}

/** A route that browsers visit. */
export function pageRoute(...[method, path, handle, more]: Parts): Route {
  return { method, path, surface: "browser", handle, ...more };
}

/** Counts every request of the HTTP layer. */
export interface RequestMetrics {
  /**
   * @param route the pattern, never the path. @param seconds from the first to the last byte of the
   * response
   */
  countRequest(route: string, method: string, status: number, seconds: number): void;
  /**
   * @param leg `par`, `authorize`, `callback`, `token`, `revoke`, …
   * @param reason an error code or one of our reasons
   */
  countRefusal(leg: string, reason: string): void;
}

/** What every route of a service shares. */
export interface HttpLayer {
  readonly log: Log;
  readonly metrics?: RequestMetrics;
  /** The page a browser sees when no redirect is allowed. */
  readonly errorPage: (error: OAuthError, trace: Trace, route: Pick<Route, "refused">) => Promise<Answer>;
  /** Below these paths only browsers are expected, regardless of the Accept header. */
  readonly browserPaths?: RegExp;
  /**
   * From what a browser sends, the cookies to end with our answer, as values of Set-Cookie. One
   * that the answer itself sets is kept.
   */
  readonly endSurplusCookies?: (header: string) => readonly string[];
  /** For a browser that opens a page before its user does. Default: in English. */
  readonly prefetched?: Answer;
  /** https deployments send HSTS. */
  readonly isHttps: boolean;
}

/** For a browser that opens a page before its user does: the user's own request is answered again. */
export const PREFETCHED: Answer = pageAnswer(
  403,
  page("Not opened yet", html`<p>Open this page yourself.</p>`),
  STYLE_HASH,
);
/** The route of requests for none of our paths. */
const ANY_PATH = "*";
const HSTS = { "strict-transport-security": "max-age=31536000" };

/**
 * Serves the routes, a 405 with `Allow` for other methods of their paths, and a 404 for everything
 * else. A path is registered once, for all methods: Hono builds a matcher for each method that it
 * knows, at the first request.
 */
export function mount(app: Hono, routes: readonly Route[], layer: HttpLayer): void {
  for (const [path, served] of Map.groupBy(routes, (route) => route.path)) {
    const [first] = served;
    if (first === undefined) continue;
    const allow = served.map(({ method }) => method).join(", ");
    const other = forOtherMethods(first, allow);
    app.all(path, (c) => {
      const method = c.req.method === "HEAD" ? "GET" : c.req.method;
      return run(c, served.find((route) => route.method === method) ?? other, allow, layer);
    });
  }
  app.notFound((c) => {
    const isBrowser =
      layer.browserPaths?.test(c.req.path) === true || (c.req.header("accept") ?? "").includes("text/html");
    return run(c, nowhere(isBrowser ? "browser" : "api"), "", layer);
  });
}

function run(c: Context, route: Route, allow: string, layer: HttpLayer): Promise<Response> {
  const startedAt = performance.now();
  const { method } = c.req;
  const name = route.path === ANY_PATH ? method : `${method} ${route.path}`;
  const { traceId, span } = startRequestSpan(route.quiet === true ? undefined : name, c.req.header("traceparent"));
  const trace: Trace = { traceId };
  return inContext({ request: trace, span }, async () => {
    const answer = await answerOf(c, route, allow, trace, layer);
    const durationMs = performance.now() - startedAt;
    layer.metrics?.countRequest(route.path, method, answer.status, durationMs / 1000);
    report(method, route, answer.status, durationMs, trace, layer);
    endSpan(span, spanFacts(method, route, answer.status, trace), answer.status >= 500);
    const common = layer.isHttps ? HSTS : undefined;
    const shared = route.cors?.headersFor(c.req.header("origin"));
    const response =
      answer instanceof Response
        ? withHeaders(answer, { ...common, ...shared })
        : new Response(answer.body, { status: answer.status, headers: { ...answer.headers, ...common, ...shared } });
    if (route.surface === "browser") endSurplus(response, c.req.header("cookie"), layer);
    return response;
  });
}

function endSurplus(response: Response, sent: string | undefined, layer: HttpLayer): void {
  const ended = sent === undefined ? [] : (layer.endSurplusCookies?.(sent) ?? []);
  if (ended.length === 0) return;
  const { headers } = response;
  const nameOf = (cookie: string): string => cookie.split("=", 1)[0] ?? "";
  const set = new Set(headers.getSetCookie().map(nameOf));
  for (const cookie of ended) if (!set.has(nameOf(cookie))) headers.append("set-cookie", cookie);
}

/**
 * A library's response, under our headers: a user's data is in it, and a library may not forbid to
 * keep or sniff it. A stream has a separate rule for caches.
 *
 * `Connection` is left to the server, which says `close` with the last request that a connection
 * may have: a library's `keep-alive` in its place would invite one more, which is refused with 503.
 */
//= rfc9110#7.6.1
function withHeaders(response: Response, added: Readonly<Record<string, string>>): Response {
  const headers = new Headers(response.headers);
  headers.delete("connection");
  headers.set("x-content-type-options", "nosniff");
  //= bar#HT-10
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}

/**
 * Each request is logged and counted once, whether a failure was returned as JSON, as a page or as a
 * redirect (bar OB-1).
 */
function report(
  method: string,
  route: Route,
  status: number,
  durationMs: number,
  trace: Trace,
  layer: HttpLayer,
): void {
  const { failure } = trace;
  const reason = trace.reason ?? failure?.extras.reason ?? failure?.code;
  if (reason !== undefined) layer.metrics?.countRefusal(legOf(route.path), reason);
  if (route.quiet === true && failure === undefined) return;
  const level = failure !== undefined && isOurs(failure) ? "error" : "info";
  layer.log[level]("request", {
    method,
    route: route.path,
    status,
    durationMs: Math.round(durationMs * 100) / 100,
    ...trace,
    reason,
    ...(failure === undefined ? {} : failureFields(failure)),
  });
}

/** By the semantic conventions of OpenTelemetry if they have a name. */
function spanFacts(method: string, { path }: Route, status: number, trace: Trace): SpanFacts {
  return {
    "http.request.method": method,
    "http.route": path === ANY_PATH ? undefined : path,
    "http.response.status_code": status,
    "oauth_broker.flow_id": trace.flowId,
    "oauth_broker.client_id": trace.clientId,
    "oauth_broker.vendor": trace.vendor,
    "error.type": trace.failure?.code,
  };
}

/**
 * The operator has to repair a bug, the store or the keys; a vendor's outage and a refusal are
 * counted and logged like any other request.
 */
function isOurs({ code, extras }: OAuthError): boolean {
  const isVendors = extras.vendorError !== undefined || extras.reason === "malformed_response";
  return (code === "server_error" && !isVendors) || OUR_OUTAGES.has(extras.reason ?? "");
}

const OUR_OUTAGES: ReadonlySet<string> = new Set(["store_unavailable", "keys_unavailable", "kms_unavailable"]);

function failureFields(failure: OAuthError): LogFields {
  return {
    ...errorFields(failure.cause ?? failure),
    ...(failure.detail === undefined ? {} : { detail: failure.detail }),
    error: failure.code,
    vendorError: failure.extras.vendorError,
  };
}

async function answerOf(
  c: Context,
  route: Route,
  allow: string,
  trace: Trace,
  layer: HttpLayer,
): Promise<Answer | Response> {
  try {
    // A HEAD of a link preview must not spend what a GET would.
    const isPage = route.surface === "browser" && route.path !== ANY_PATH;
    //= bar#CB-12
    const served = isPage && c.req.raw.method === "HEAD" ? forOtherMethods(route, allow) : route;
    // Nor may a request that a browser makes by itself, which is not a failure either.
    if (isPage && c.req.method === "GET" && isPrefetch((name) => c.req.header(name)))
      return layer.prefetched ?? PREFETCHED;
    return await served.handle(c, trace);
  } catch (thrown) {
    return renderError(toOAuthError(thrown), route, trace, layer);
  }
}

async function renderError(error: OAuthError, route: Route, trace: Trace, layer: HttpLayer): Promise<Answer> {
  trace.failure = error;
  const referenceId = error.code === "server_error" ? randomUUID() : undefined;
  if (referenceId !== undefined) trace.referenceId = referenceId;
  return route.surface === "api" ? errorAnswer(error, trace.flowId, referenceId) : layer.errorPage(error, trace, route);
}

/**
 * `/v1/custom/:context/callback` → `callback`, `/v1/vendors/:id` → `vendors`: the label of the
 * metrics.
 */
function legOf(path: string): string {
  if (path.startsWith("/.")) return "other";
  const word = path.split("/").findLast((segment) => /^[a-z]/.test(segment)) ?? "";
  return word.replace(/[^a-z].*$/, "") || "other";
}

function forOtherMethods({ otherMethods, ...route }: Route, allow: string): Route {
  return {
    ...route,
    handle: async (c, trace) => {
      const answer = await otherMethods?.(c, trace);
      if (answer !== undefined) return answer;
      throw new OAuthError("method_not_allowed", "This path does not support this method", { allow });
    },
  };
}

function nowhere(surface: Route["surface"]): Route {
  return {
    method: "GET",
    path: ANY_PATH,
    surface,
    handle: () => {
      throw new OAuthError("not_found", "There is nothing at this path");
    },
  };
}
