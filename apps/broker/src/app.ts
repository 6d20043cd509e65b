/**
 * The composition root: one configuration in, a Hono app out. Everything the broker is made of is bound here, once.
 */
import type { Clock, Fetch } from "@oauth-broker/oauth-core";
import { createSigningKeys, createVendorClient } from "@oauth-broker/oauth-core/client";
import { createStateCodec } from "@oauth-broker/oauth-core/protocol";
import { createResponseEncryption } from "@oauth-broker/oauth-core/server";
import { createEgress, type Egress, onBehalfOf } from "@oauth-broker/oauth-core/egress";
import { Hono } from "hono";
import { isLoopbackName } from "@oauth-broker/oauth-core/configuration";
import { errorPageWith, type Log, mount, type Route } from "@oauth-broker/oauth-core/service";
import { configuredClients } from "./clients/registry.ts";
import { systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { createFlows } from "./flows/policy.ts";
import { createSingleFlight } from "./grants/single-flight.ts";
import { createKeyset } from "./keys/keyset.ts";
import { countedVendorClient, createMetrics } from "./metrics.ts";
import { createWayBack } from "./pages/way-back.ts";
import { createRateLimits } from "./rate-limits.ts";
import { apiRoutes } from "./routes/api.ts";
import { browserRoutes } from "./routes/browser.ts";
import { infoRoutes } from "./routes/info.ts";
import { registerRoutes } from "./routes/register.ts";
import { openStores } from "./stores.ts";
import { indexRegistrations } from "./vendor/registrations.ts";

/** Below these only browsers are sent, whatever they say they accept. */
const BROWSER_PATHS = /^\/v1\/(?:authorize|callback|custom)\//;

export interface Broker {
  readonly app: Hono;
  readonly deps: Deps;
  /** From now on /readyz fails: no new work should be sent here. */
  drain(): void;
  close(): Promise<void>;
}

export interface BrokerOptions {
  readonly now?: Clock;
  readonly log: Log;
  readonly sandboxUrl?: () => string | undefined;
  /** Every outbound call; the guarded one unless a test answers as the vendor itself. */
  readonly egress?: Egress;
}

/** Opens no port. A store or vendor that is down does not fail here: `/readyz` and the API say so until it is back. */
export async function createBroker(
  config: Config,
  { now = systemClock, log, sandboxUrl, egress = guardedEgress(config) }: BrokerOptions,
): Promise<Broker> {
  const stores = await openStores(config, now);
  const { records } = stores;
  const keyset = createKeyset({ storage: stores.keyset, floor: stores.floor, now });
  const metrics = createMetrics({ vendors: config.vendors.keys() });
  const clientKeys = createSigningKeys({ fetch: egress.fetch, now });
  const { allowLoopback, allowCidrs } = config.egress;
  // What all clients of a vendor may be waiting for is no single client's call.
  const fetchDocuments: Fetch = (input, init) => onBehalfOf({}, () => egress.fetch(input, init));
  const deps: Deps = {
    issuer: config.baseUrl,
    cell: config.cell,
    now,
    records,
    keyset,
    state: createStateCodec({
      keys: { active: () => keyset.active("state"), find: (kid) => keyset.find("state", kid) },
      audience: `${config.baseUrl}/v1/callback`,
      now,
    }),
    clients: configuredClients(config.clients),
    remoteKeys: (jwksUri) => (header) => clientKeys.find(jwksUri, header),
    vendors: config.vendors,
    registrations: indexRegistrations(config.clients, config.vendors),
    vendorClient: countedVendorClient(
      createVendorClient({ fetch: egress.fetch, fetchDocuments, now, allowLoopback, allowCidrs }),
      metrics,
    ),
    untrustedVendorClient: countedVendorClient(
      createVendorClient({ fetch: egress.fetchUntrusted, now, allowLoopback }),
      metrics,
    ),
    allowLoopback,
  };
  const flows = createFlows(deps);
  let isDraining = false;
  const limit = { bodyBytes: config.limits.bodyBytes };
  const rateLimits = createRateLimits(config.limits, now);
  const app = new Hono();
  const ofClients = [
    ...apiRoutes({
      ...deps,
      flows,
      limit,
      rateLimits,
      singleFlight: createSingleFlight({ records, now, onReplay: () => metrics.countRefreshReplay() }),
      responseEncryption: createResponseEncryption({ fetch: egress.fetch, now }),
    }),
    ...browserRoutes({ ...deps, flows, limit }),
    ...registerRoutes({ ...deps, limit, rateLimits, openTo: config.sandbox ? config.clients[0] : undefined }),
  ];
  const info = { ...deps, metrics, isDraining: () => isDraining, sandboxUrl: sandboxUrl ?? (() => undefined) };
  mount(app, [...ofClients.map(countedForItsClient), ...infoRoutes(info)], {
    log,
    metrics,
    errorPage: errorPageWith(createWayBack(config.clients, deps.clients)),
    browserPaths: BROWSER_PATHS,
    isHttps: config.baseUrl.startsWith("https:"),
  });
  return {
    app,
    deps,
    drain: () => {
      isDraining = true;
    },
    close: async () => {
      await egress.close();
      await stores.close();
    },
  };
}

/** Outbound calls of a request count for its client, from when that is known. */
function countedForItsClient(route: Route): Route {
  return { ...route, handle: (c, trace) => onBehalfOf(trace, () => route.handle(c, trace)) };
}

/** Endpoints from request parameters never lead back to ourselves. On loopback, others of this machine share our name. */
function guardedEgress({ egress, baseUrl }: Config): Egress {
  const { hostname } = new URL(baseUrl);
  return createEgress({ ...egress, refusedHosts: egress.allowLoopback && isLoopbackName(hostname) ? [] : [hostname] });
}
