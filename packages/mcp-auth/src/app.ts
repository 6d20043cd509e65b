/**
 * The composition root: takes settings and a definition, returns a Hono app. All parts of a server
 * are connected here, once; the only file that knows both modes.
 */
import { type Clock, defined, OAuthError, systemTimer, type Timer } from "@oauth-broker/oauth-core";
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { createEgress, type Egress, type EgressOptions } from "@oauth-broker/oauth-core/egress";
import { jsonAnswer } from "@oauth-broker/oauth-core/http";
import { endSurplusCookies } from "@oauth-broker/oauth-core/authorization-server";
import { apiRoute, errorPageWith, type HttpLayer, mount, type Route } from "@oauth-broker/service/http";
import type { Log } from "@oauth-broker/service";
import { html } from "@oauth-broker/service/page";
import { watchedVendorClient } from "@oauth-broker/service/tracing";
import { Hono } from "hono";
import { createCallerAddress } from "./caller-address.ts";
import { createHosted, type HostedParts } from "./hosted/hosted.ts";
import { documentEgress, publicDocumentEgress } from "./hosted/clients/metadata-document.ts";
import { MAX_OPEN } from "./hosted/tickets/tickets.ts";
import { PATHS } from "./resource/paths.ts";
import { supportedScopes } from "./hosted/link-policy/scope.ts";
import { identitySource } from "./hosted/records/identity-source.ts";
import { requireSignIn } from "./hosted/sessions/sign-in-source.ts";
import { createMcpEndpoint } from "./mcp/endpoint.ts";
import { createPause, type ElicitationDeps } from "./mcp/elicitation/deps.ts";
import { createKnownHost, onlyForUs } from "./mcp/admission/known-host.ts";
import type { ShowToAuthor } from "./mcp/run-tool.ts";
import type { ServerMetrics } from "./mcp/metrics.ts";
import { challengePage, homeRoute } from "./mcp/browser-pages.ts";
import { scopesOfResource } from "./resource/scopes.ts";
import { limitRefusedTokens } from "./mcp/admission/refused-tokens.ts";
import { requireKnownVendors, scopeMeanings, toolWarnings } from "./mcp/tools/tool-vendors.ts";
import type { Mode } from "./mode.ts";
import { createOrigins } from "./origins.ts";
import { createPresentation, type Presentation } from "./presentation/presentation.ts";
import { createAuthenticate, validationWarning } from "./pre-registered/authenticate.ts";
import type { ServerDefinition } from "./server.ts";
import type { Settings } from "./settings.ts";
import { openStorage, type Storage, type StorageOptions } from "./storage.ts";

export interface AppOptions {
  readonly now: Clock;
  /** Default: the machine's. */
  readonly timer?: Timer;
  /** Makes each way out, with its own limits; default `createEgress`. */
  readonly openEgress?: (options: EgressOptions) => Egress;
  readonly log: Log;
  /** Hosted mode only; pre-registered mode stores nothing. */
  readonly storage: Storage | undefined;
  /** With `METRICS_PORT`. */
  readonly metrics?: ServerMetrics;
  readonly showToAuthor?: ShowToAuthor | undefined;
}

export interface McpApp extends Pick<Mode, "lateWarning"> {
  readonly app: Hono;
  /** What it serves, as Hono's patterns. */
  readonly routes: readonly Pick<Route, "method" | "path">[];
  /**
   * From now on /readyz fails, so that no new requests are sent here, and nothing runs without one.
   *
   * @param graceMs until requests are refused: calls that wait for their user are then answered
   */
  drain(graceMs?: number): void;
  /**
   * Calls of tools that still run will have no answer: their signals fire.
   *
   * @returns when they have ended, if they do
   */
  cutCalls(): Promise<void>;
  close(): Promise<void>;
}

/** Responses of token and account endpoints are small; responses of APIs to tools are not. */
const API_ANSWER_BYTES = 8 * 1024 * 1024;
/** The limits for all users' tools together; they name no caller. */
const API_ANSWER_BOUNDS = { ofProcess: 32 * API_ANSWER_BYTES, ofCaller: 32 * API_ANSWER_BYTES };
const API_TIMEOUT_MS = 30_000;
const OAUTH_TIMEOUT_MS = 10_000;

/**
 * Opens no port and sends nothing: a vendor, store or key service that is down is noticed at the
 * first use.
 *
 * @throws ConfigError for tools that name a vendor or a scope that the settings do not have
 */
export function createApp(definition: ServerDefinition, settings: Settings, options: AppOptions): McpApp {
  requireKnownVendors(definition.tools, settings);
  const { now, storage, metrics, timer = systemTimer, openEgress = createEgress } = options;
  const log = metrics?.countCalls(options.log) ?? options.log;
  const { vendor: entry, apiHosts } = settings.vendor;
  const oauth = openEgress({ ...settings.egress, timeoutMs: OAUTH_TIMEOUT_MS });
  const api = openEgress({
    ...settings.egress,
    timeoutMs: API_TIMEOUT_MS,
    maxBodyBytes: API_ANSWER_BYTES,
    answerBounds: API_ANSWER_BOUNDS,
  });
  const documents = openEgress(documentEgress(settings));
  const publicDocuments = openEgress(publicDocumentEgress(settings));
  const hasEvents = settings.mode === "hosted" && settings.events !== undefined;
  // A slow receiver holds no connection that a user waits for.
  const receiver = hasEvents ? openEgress({ ...settings.egress, timeoutMs: OAUTH_TIMEOUT_MS }) : undefined;
  const onLesserAnswer = (event: string, { id }: Pick<ResolvedVendor, "id">): void => log.warn(event, { vendor: id });
  const vendorClient = watchedVendorClient(
    createVendorClient({
      fetch: oauth.fetch,
      timer,
      now,
      ...settings.egress,
      onLesserAnswer,
    }),
    { log, ...defined({ metrics }) },
  );
  const vendor = (): Promise<ResolvedVendor> => vendorClient.resolve(entry);
  const presentation = createPresentation(settings.operator, definition, scopeMeanings(definition.tools, settings));
  const mode = createMode(settings, {
    presentation,
    now,
    timer,
    log,
    storage,
    vendorClient,
    fetchDocument: documents.fetchUntrusted,
    fetchPublicDocument: publicDocuments.fetchUntrusted,
    fetchReceiver: receiver?.fetch,
    vendor,
  });
  const stopping = new AbortController();
  const endpoint = createMcpEndpoint(definition, {
    authenticate: limitRefusedTokens(mode.authenticate, { ...settings.limits, now, timer }),
    addressOf: createCallerAddress(settings.limits.trustedProxies),
    resourceMetadata: mode.resourceMetadata,
    scope: scopesOfResource(settings.mode === "hosted" ? supportedScopes(settings.links) : settings.vendor.scopes).join(
      " ",
    ),
    vendor,
    names: { id: entry.id, name: entry.name },
    apiHosts,
    allowLoopback: settings.egress.allowLoopback,
    fetch: api.fetch,
    vendorClient,
    log,
    challengePage: (challenge) => challengePage(challenge, definition, settings, presentation),
    showToAuthor: options.showToAuthor,
    ...defined({ onApiAnswer: metrics?.countApiAnswer }),
    ...defined({
      linking: linkingOf(settings, mode.seals, {
        now,
        resolve: vendorClient.resolve,
        pause: createPause(timer),
        stopping: stopping.signal,
      }),
    }),
  });
  let isDraining = false;
  const probes = probesOf(mode, settings, () => isDraining);
  const app = new Hono();
  const home = homeRoute(definition, settings, presentation);
  const ofUs = [home, presentation.iconRoute, endpoint.route, ...mode.routes];
  const routes = [...probes, ...ofUs.map(createOrigins(settings))];
  mount(app, routes, {
    log,
    ...pagesOf(presentation),
    endSurplusCookies,
    isHttps: settings.deploymentUrl?.startsWith("https:") === true,
    ...defined({ metrics }),
  });
  return {
    app,
    routes: routes.map(({ method, path }) => ({ method, path })),
    lateWarning: mode.lateWarning,
    drain: (graceMs = 0) => {
      isDraining = true;
      void mode.close();
      void timer.sleep(graceMs, { background: true }).then(() => stopping.abort());
    },
    cutCalls: endpoint.cutCalls,
    close: async () => {
      await Promise.all([mode.close(), endpoint.close()]);
      await Promise.all([oauth.close(), api.close(), documents.close(), publicDocuments.close(), receiver?.close()]);
    },
  };
}

/** A server whose store is open. */
export interface OpenServer extends McpApp {
  /** Its user closes it: after the calls have ended, before `close`. */
  readonly storage: Storage | undefined;
  /** What an operator should know about the settings and the tools. */
  readonly warnings: readonly string[];
}

/**
 * Opens the store, if the mode has one, then as `createApp`.
 *
 * @throws TokenStoreError for a store or key that may not be used; ConfigError as createApp; with
 *   `VENDORS` as requireSignIn
 */
export async function openServer(
  definition: ServerDefinition,
  settings: Settings,
  { environment, ...options }: Omit<AppOptions, "storage"> & Pick<StorageOptions, "environment">,
): Promise<OpenServer> {
  const storage = settings.mode === "hosted" ? await openServerStorage(options, environment) : undefined;
  try {
    const server = createApp(definition, settings, { ...options, storage });
    if (settings.mode === "hosted" && storage !== undefined) await requireSignIn(settings, storage);
    return { ...server, storage, warnings: [...settings.warnings, ...toolWarnings(definition.tools, settings)] };
  } catch (error) {
    await storage?.close();
    throw error;
  }
}

function openServerStorage(
  { now, log, metrics }: Pick<AppOptions, "now" | "log" | "metrics">,
  environment: StorageOptions["environment"],
): Promise<Storage> {
  const of = { now, ...defined({ environment }) };
  if (metrics === undefined) return openStorage({ ...of, log });
  return openStorage({ ...of, log: metrics.countStorageEvents(log), onTiming: metrics.timeStorage });
}

/** The pages that the HTTP layer shows by itself. */
export function pagesOf({ texts, frame, allowIcon, page }: Presentation): Pick<HttpLayer, "errorPage" | "prefetched"> {
  const errorPage = errorPageWith(undefined, { texts: texts.errors, frame });
  const { title, text } = texts.prefetched;
  return {
    errorPage: async (...refused) => allowIcon(await errorPage(...refused)),
    prefetched: page(403, title, html`<p>${text}</p>`),
  };
}

/** Served on a separate port, on loopback: the proxy in front of the server cannot reach it. */
export function createMetricsApp(metrics: Pick<ServerMetrics, "render">, listen: Settings["listen"], log: Log): Hono {
  const route = apiRoute(
    "GET",
    "/metrics",
    async () => {
      const { contentType, body } = await metrics.render();
      return { status: 200, headers: { "content-type": contentType, "cache-control": "no-store" }, body };
    },
    { quiet: true },
  );
  const app = new Hono();
  const isKnown = createKnownHost({ deploymentUrl: undefined, listen });
  mount(app, [onlyForUs(route, isKnown, undefined)], { log, errorPage: errorPageWith(), isHttps: false });
  return app;
}

interface ModeDeps extends Omit<HostedParts, "storage"> {
  readonly storage: Storage | undefined;
  readonly vendor: () => Promise<ResolvedVendor>;
}

function createMode(settings: Settings, deps: ModeDeps): Mode {
  if (settings.mode === "pre-registered") {
    const { vendor, vendorClient, now } = deps;
    const authenticateDeps = { settings: settings.vendor, vendor, vendorClient, now };
    return {
      authenticate: createAuthenticate(authenticateDeps),
      routes: [],
      resourceMetadata: undefined,
      ready: async () => {},
      lateWarning: () => validationWarning(authenticateDeps),
      close: async () => {},
    };
  }
  const { storage } = deps;
  if (storage === undefined) throw new TypeError("hosted mode needs storage");
  return createHosted(settings, { ...deps, storage });
}

/** @returns undefined with one vendor */
function linkingOf(
  settings: Settings,
  seals: Mode["seals"] | undefined,
  deps: Pick<ElicitationDeps, "now" | "resolve" | "pause" | "stopping">,
): ElicitationDeps | undefined {
  if (settings.mode !== "hosted" || settings.links.kind === "one" || seals === undefined) return undefined;
  const connectionsUrl = settings.deploymentUrl + PATHS.connections;
  const source = identitySource(settings);
  return { ...settings.links, ...deps, seals, source, connectionsUrl, mostTickets: MAX_OPEN };
}

/** `/healthz` reports that the process runs and in which mode; `/readyz` that its storage works. */
function probesOf({ ready }: Pick<Mode, "ready">, { mode }: Settings, isDraining: () => boolean): Route[] {
  const info = {
    status: "ok",
    mode,
    // What kind of token the bearer token on /mcp is; the docs describe the consequences.
    bearer: mode === "hosted" ? "token_of_this_server" : "vendor_token_of_the_user",
  };
  return [
    apiRoute("GET", "/healthz", () => jsonAnswer(200, info), { quiet: true }),
    apiRoute(
      "GET",
      "/readyz",
      async () => {
        if (isDraining()) throw new OAuthError("temporarily_unavailable", "This process is shutting down");
        await ready();
        return jsonAnswer(200, { status: "ok" });
      },
      { quiet: true },
    ),
  ];
}
