/**
 * Hosted mode assembled: this server is an OAuth authorization server and stores its users' vendor
 * tokens.
 */
import type { Fetch, Timer } from "@oauth-broker/oauth-core";
import { errorFields, startSweep, type Sweep } from "@oauth-broker/service";
import { createLinkEvents, type LinkEvents, startLinkEvents } from "@oauth-broker/service/events";
import type { Mode } from "../mode.ts";
import type { HostedSettings } from "../settings.ts";
import type { Storage } from "../storage.ts";
import type { HostedDeps } from "./deps.ts";
import { authenticate } from "./authenticate.ts";
import { identitySource } from "./records/identity-source.ts";
import { vendorIssuerWarning } from "./metadata.ts";
import { resourceMetadataUrl, resourceOf } from "../resource/paths.ts";
import { hostedRoutes } from "./routes.ts";
import { createPages, type Pages } from "./pages/deps.ts";
import { sweepPendingTokens } from "./pages/store-link.ts";
import { createServerRecords, type ServerRecords } from "./records/server-key.ts";
import { createSessions } from "./sessions/sessions.ts";
import { createSignInGeneration } from "./sessions/sign-in-generation.ts";

export interface HostedParts extends Pick<
  HostedDeps,
  "presentation" | "vendorClient" | "fetchDocument" | "fetchPublicDocument" | "now" | "log"
> {
  readonly storage: Storage;
  /** To the receiver of events, over separate connections. Absent without `EVENTS_URL`. */
  readonly fetchReceiver: Fetch | undefined;
  readonly timer: Timer;
}

export function createHosted(settings: HostedSettings, { storage, timer, fetchReceiver, ...parts }: HostedParts): Mode {
  const { records: table, keys, context, tokens } = storage;
  const { now, log } = parts;
  const { serverKey, records } = createServerRecords({
    records: table,
    keys,
    context,
    adoptUnsealed: settings.adoptUnsealedServerKey,
    onRefused: (kind) => log.warn("record_refused", { reason: kind }),
  });
  const vendors = (): string[] => [...settings.links.vendors.values()].map(({ vendor }) => vendor.id);
  const events =
    settings.events &&
    fetchReceiver &&
    createLinkEvents({ records, now, timer, log, settings: settings.events, fetch: fetchReceiver, vendors });
  const deps = withSessions({ ...parts, events, settings, records, tokens, serverKey });
  const linking = createPages(deps);
  return {
    authenticate: (bearer) => authenticate(bearer, linking ?? deps),
    seals: serverKey,
    routes: hostedRoutes(deps, linking),
    resourceMetadata: resourceMetadataUrl(settings.deploymentUrl),
    // Cached after the first read: the key service is not asked again.
    ready: async () => {
      await storage.ping();
      await serverKey.derive("token-tag");
    },
    lateWarning: () => vendorIssuerWarning(deps),
    close: startSweeps(linking, events, { serverKey, log, timer }),
  };
}

/** With the sessions of this server, over its records. */
export function withSessions(parts: Omit<HostedDeps, "sessions" | "signInGeneration">): HostedDeps {
  const { settings, records, serverKey, now } = parts;
  const audience = resourceOf(settings.deploymentUrl);
  const signInGeneration = createSignInGeneration({ records, audience });
  const of = { audience, source: identitySource(settings), signInGeneration, links: settings.links };
  return { ...parts, sessions: createSessions({ records, serverKey, now, ...of }), signInGeneration };
}

const QUESTIONS_MS = 30_000;
/** As often as the broker reads its keyset. */
const KEY_RELOAD_MS = 20_000;

/** @returns ends what runs in the background, after the step under way */
function startSweeps(
  linking: Pages | undefined,
  events: LinkEvents | undefined,
  { serverKey, log, timer }: Pick<ServerRecords, "serverKey"> & Pick<HostedParts, "log" | "timer">,
): Mode["close"] {
  /** A store that is down is asked again the next time. */
  const sweep = (failure: string, pauseMs: number, round: Sweep): Mode["close"] =>
    startSweep(
      (stopping) => round(stopping).catch((error: unknown) => log.warn(failure, errorFields(error))),
      pauseMs,
      timer,
    );
  const reloadKey = async (): Promise<void> => {
    const outcome = await serverKey.reload();
    if (outcome !== "unchanged") log.warn(`server_key_${outcome}`);
  };
  const ends = [sweep("server_key_unavailable", KEY_RELOAD_MS, reloadKey)];
  if (linking !== undefined)
    ends.push(sweep("questions_not_swept", QUESTIONS_MS, (stopping) => sweepPendingTokens(linking, stopping)));
  if (events !== undefined) ends.push(startLinkEvents(events, timer));
  return async () => void (await Promise.all(ends.map((end) => end())));
}
