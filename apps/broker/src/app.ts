/**
 * The composition root: takes one configuration and returns a Hono app. Every part of the broker is
 * created and connected here, once.
 */
import { type Clock, defined, type Fetch, systemClock, systemTimer, type Timer } from "@oauth-broker/oauth-core";
import { createSigningKeys, createVendorClient, type VendorClientDeps } from "@oauth-broker/oauth-core/vendor-client";
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import { createStateCodec } from "@oauth-broker/oauth-core/protocol";
import { createResponseEncryption, endSurplusCookies } from "@oauth-broker/oauth-core/authorization-server";
import { createEgress, type Egress, onBehalfOf } from "@oauth-broker/oauth-core/egress";
import { Hono } from "hono";
import { isLoopbackName } from "@oauth-broker/service/configuration";
import { errorFields, type Log, type LogDestination } from "@oauth-broker/service";
import { errorPageWith, mount, type Route } from "@oauth-broker/service/http";
import { watchedVendorClient } from "@oauth-broker/service/tracing";
import { openAudit } from "./audit/audit.ts";
import { auditedRoutes } from "./audit/routes.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { createFlows } from "./flows/policy.ts";
import { createSingleFlight } from "./grants/single-flight.ts";
import { brokerRecords } from "./keys/broker-records.ts";
import { createKeyset } from "./keys/keyset.ts";
import { createMetrics } from "./metrics.ts";
import { createWayBack } from "./pages/way-back.ts";
import { createRateLimits } from "./rate-limits.ts";
import { apiRoutes } from "./routes/api.ts";
import { browserRoutes } from "./routes/browser.ts";
import { infoRoutes } from "./routes/info.ts";
import { registerRoutes } from "./routes/register.ts";
import { openStores, type Stores } from "./stores.ts";
import { CALLBACK_PATH } from "./vendor-choice/callback-path.ts";
import { indexRegistrations } from "./vendor-choice/registrations.ts";

/** Only browsers visit these paths, regardless of their Accept header. */
const BROWSER_PATHS = /^\/v1\/(?:authorize|callback|custom)\//;

export type Broker = Awaited<ReturnType<typeof createBroker>>;

export interface BrokerOptions {
  readonly now?: Clock;
  /** Decides how long each wait takes. */
  readonly timer?: Timer;
  /** Instead of the store and the keyset's storage that the configuration names. */
  readonly stores?: Stores;
  readonly log: Log;
  /** Where the log writes, for `audit: stdout`. */
  readonly stdout?: LogDestination;
  readonly sandboxUrl?: () => string | undefined;
  /**
   * Makes every outbound call. Default: the guarded egress. Tests pass one that answers as the
   * vendor.
   */
  readonly egress?: Egress;
}

/**
 * Opens no port. Succeeds while the store or a vendor is down: `/readyz` and the API report that
 * until it is back.
 */
export async function createBroker(config: Config, options: BrokerOptions) {
  const { now = systemClock, timer = systemTimer, log, stdout, sandboxUrl, egress = guardedEgress(config) } = options;
  const audit = openAudit(config, { now, log, ...defined({ stdout }) });
  const stores = options.stores ?? (await openStores(config, now));
  const keyset = createKeyset({
    storage: stores.keyset,
    floor: stores.floor,
    now,
    onRotation: (kid) => void audit.record("keys_rotated", { kid }),
  });
  const records = brokerRecords({
    records: stores.records,
    keyset,
    onRefused: (kind) => log.warn("record_refused", { reason: kind }),
  });
  const metrics = createMetrics({ vendors: config.vendors.keys() });
  const clientsById = new Map(config.clients.map((client) => [client.clientId, client]));
  const clientKeys = createSigningKeys({ fetch: egress.fetch, now, timer });
  const { allowLoopback, allowCidrs, operatorUrls = [] } = config.egress;
  // Several clients can wait for one vendor's document, so that call is charged to none of them.
  const fetchDocuments: Fetch = (input, init) => onBehalfOf({}, () => egress.fetch(input, init));
  const onLesserAnswer = (event: string, { id }: Pick<Vendor, "id">): void => log.warn(event, { vendor: id });
  const vendorClient = (fetch: Fetch, access: Partial<VendorClientDeps> = {}) =>
    watchedVendorClient(
      createVendorClient({ fetch, now, timer, allowLoopback, takesFormPost: true, onLesserAnswer, ...access }),
      { log, metrics },
    );
  const deps: Deps = {
    issuer: config.baseUrl,
    cell: config.cell,
    now,
    timer,
    records,
    keyset,
    audit,
    state: createStateCodec({
      keys: { active: () => keyset.active("state"), find: (kid) => keyset.find("state", kid) },
      audience: `${config.baseUrl}${CALLBACK_PATH}`,
      now,
    }),
    clients: { find: async (clientId) => clientsById.get(clientId) },
    remoteKeys: (jwksUri) => (header) => clientKeys.find(jwksUri, header),
    vendors: config.vendors,
    registrations: indexRegistrations(config.clients, config.vendors),
    vendorClient: vendorClient(egress.fetch, { fetchDocuments, allowCidrs, operatorUrls }),
    tenantVendorClient: vendorClient(egress.fetchTenant ?? egress.fetchUntrusted),
    untrustedVendorClient: vendorClient(egress.fetchUntrusted),
    isProxied: config.egress.proxy !== undefined,
    allowLoopback,
  };
  const flows = createFlows(deps);
  let isDraining = false;
  /** While the keys cannot be loaded: why, and how many failures in a row. */
  let outage: { readonly cause: string; readonly count: number } | undefined;
  const limit = { bodyBytes: config.limits.bodyBytes };
  const rateLimits = createRateLimits(config.limits, now);
  const app = new Hono();
  const ofClients = [
    ...apiRoutes({
      ...deps,
      flows,
      limit,
      rateLimits,
      singleFlight: createSingleFlight({ records, now, timer, onReplay: () => metrics.countRefreshReplay() }),
      responseEncryption: createResponseEncryption({ fetch: egress.fetch, now, timer }),
    }),
    ...browserRoutes({ ...deps, flows, limit }),
    ...registerRoutes({ ...deps, limit, rateLimits, openTo: config.sandbox ? config.clients[0] : undefined }),
  ];
  const info = { ...deps, metrics, isDraining: () => isDraining, sandboxUrl: sandboxUrl ?? (() => undefined) };
  const routes = { ofClients: ofClients.map(countedForItsClient), open: infoRoutes(info) };
  mount(app, config.audit.kind === "off" ? Object.values(routes).flat() : auditedRoutes(routes, audit, now), {
    log,
    metrics,
    errorPage: errorPageWith(createWayBack(config.clients, deps.clients)),
    browserPaths: BROWSER_PATHS,
    endSurplusCookies,
    isHttps: config.baseUrl.startsWith("https:"),
  });
  return {
    app,
    deps,
    /** @returns false when they cannot be loaded now, which is counted, and at times logged */
    loadKeys: async (): Promise<boolean> => {
      try {
        await keyset.load();
        if (outage !== undefined) log.info("keyset_available", { count: outage.count });
        outage = undefined;
        return true;
      } catch (error) {
        const fields = errorFields(error);
        const [cause, count] = [JSON.stringify(fields), (outage?.count ?? 0) + 1];
        // Tried each second: a line for a new cause, and after 2, 4, 8 … failures.
        if (cause !== outage?.cause || Number.isInteger(Math.log2(count))) {
          log.error("keyset_unavailable", { ...fields, count });
        }
        outage = { cause, count };
        metrics.countKeysetFailure();
        return false;
      }
    },
    /** Makes /readyz fail, so that load balancers send no new work here. */
    drain: (): void => {
      isDraining = true;
    },
    close: async (): Promise<void> => {
      // First: what is not answered by now is not answered at all.
      audit.close();
      await egress.close();
      await stores.close();
    },
  };
}

/** Counts the outbound calls of a request for its client, once the client is known. */
function countedForItsClient(route: Route): Route {
  return { ...route, handle: (c, trace) => onBehalfOf(trace, () => route.handle(c, trace)) };
}

/**
 * Refuses endpoints in request parameters that lead back to the broker. On loopback other services
 * share its host name, so nothing is refused there.
 */
function guardedEgress({ egress, baseUrl }: Config): Egress {
  const { hostname } = new URL(baseUrl);
  return createEgress({ ...egress, refusedHosts: egress.allowLoopback && isLoopbackName(hostname) ? [] : [hostname] });
}
