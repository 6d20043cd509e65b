/**
 * Composes the platform's pages: takes storage and outbound clients, returns a Hono app. The
 * ingress is a separate app (routes/ingress.ts).
 */
import { type Clock, defined, type Fetch, systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { createEgress, type Egress } from "@oauth-broker/oauth-core/egress";
import { isOwnHost } from "@oauth-broker/oauth-core/authorization-server";
import { ENGLISH_ERRORS, errorPageWith, type ErrorTexts, foreignHostDetail, mount } from "@oauth-broker/service/http";
import type { Log } from "@oauth-broker/service";
import { createLinkEvents, startLinkEvents } from "@oauth-broker/service/events";
import { Hono } from "hono";
import { createAgent } from "./agent/agent.ts";
import { createPendingCalls } from "./agent/pending-calls.ts";
import type { ServeConfig } from "./config.ts";
import { createBearers } from "./oauth/bearer.ts";
import { createConnections } from "./oauth/connections.ts";
import { connectRoutes } from "./routes/connect.ts";
import type { PageDeps, Timeline } from "./routes/deps.ts";
import { pageRoutes } from "./routes/pages.ts";
import { settingsRoutes } from "./routes/settings.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { tryRoutes } from "./routes/try.ts";
import type { Storage } from "./storage.ts";
import { createSessions } from "./users/session.ts";

export interface PlatformOptions extends Omit<ServeConfig, "port" | "maxConnections"> {
  /** The broker's legs of a flow, if the program that runs both can read them. */
  readonly timeline?: Timeline;
}

export interface PlatformParts {
  readonly storage: Pick<Storage, "connectors" | "records" | "keys">;
  readonly log: Log;
  readonly now?: Clock;
  /** Instead of the platform's egress. */
  readonly fetch?: Fetch;
}

export type Platform = ReturnType<typeof createPlatform>;

/** A tool may take a while. */
const TIMEOUT_MS = 30_000;

/** Most pages here are not part of a sign-in. */
const ERRORS: ErrorTexts = {
  ...ENGLISH_ERRORS,
  unfinished: "This was not done",
  titlesByReason: {
    ...ENGLISH_ERRORS.titlesByReason,
    state_mismatch: ENGLISH_ERRORS.unfinished,
    form_refused: "This form was not accepted",
    not_signed_in: "You are not signed in",
    not_administrator: "This is for administrators",
  },
};

/** Opens no port. */
export function createPlatform(
  { platformUrl, allowCidrs, broker, events: settings, timeline }: PlatformOptions,
  { storage, log, now = systemClock, fetch }: PlatformParts,
) {
  const isHttps = platformUrl.startsWith("https:");
  // Deployed servers run on this machine, and so do practice vendors.
  const access = { allowLoopback: true, allowCidrs };
  const egress: Egress = createEgress({ ...access, timeoutMs: TIMEOUT_MS });
  const { connectors, records, keys } = storage;
  const vendors = async (): Promise<string[]> => (await connectors.list()).map(({ id }) => id);
  // A slow receiver holds no connection that a user waits for.
  const receiver = settings && createEgress({ ...access, operatorUrls: [settings.url], timeoutMs: TIMEOUT_MS });
  const timer = systemTimer;
  const events =
    settings && receiver && createLinkEvents({ settings, records, now, log, vendors, fetch: receiver.fetch, timer });
  const connect = {
    connectors,
    records,
    keys,
    now,
    connections: createConnections({ records, keys, now, ...defined({ events }) }),
    fetch: fetch ?? egress.fetch,
    egress: access,
    platformUrl,
    ...defined({ broker }),
  };
  const bearers = createBearers({ ...connect, platformToken: (id) => connectors.platformToken(id) });
  const deps: PageDeps = {
    ...connect,
    sessions: createSessions(platformUrl, { records, now }),
    bearers,
    agent: createAgent({ bearers, fetch: egress.fetch }),
    pendingCalls: createPendingCalls({ records, keys, now }),
    rules: { allowCidrs },
    ...defined({ timeline }),
  };
  const app = new Hono();
  app.use(async (c, next) => {
    if (isOwnHost(c.req.url, platformUrl)) return next();
    const detail = foreignHostDetail(new URL(platformUrl).host, c.req.header("host"));
    log.info("request", { method: c.req.method, status: 403, reason: "foreign_host", detail });
    return c.text(`This platform is at ${platformUrl}`, 403, { "cache-control": "no-store" });
  });
  mount(
    app,
    [...pageRoutes(deps), ...connectRoutes(deps), ...settingsRoutes(deps), ...tryRoutes(deps), ...tokenRoutes(deps)],
    {
      log,
      errorPage: errorPageWith(async () => ({ href: "/connectors", label: "To the connectors" }), {
        texts: ERRORS,
        frame: { language: "en", direction: "ltr" },
      }),
      browserPaths: /^\//,
      isHttps,
    },
  );
  return {
    app,
    deps,
    /** With `events` of the options: sends what is due, until the function that it returns is called. */
    startEvents: () => (events === undefined ? async () => undefined : startLinkEvents(events, timer)),
    close: async (): Promise<void> => void (await Promise.all([egress.close(), receiver?.close()])),
  };
}
