/**
 * Hosted mode assembled: this server is an OAuth authorization server and stores its users' vendor
 * tokens.
 */
import type { Fetch, Timer } from "@oauth-broker/oauth-core";
import { errorFields, startSweep } from "@oauth-broker/service";
import { createLinkEvents, type LinkEvents, type LinkEventsDeps, startLinkEvents } from "@oauth-broker/service/events";
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
  const events = createEvents(settings, { records, now, timer, log, fetchReceiver });
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
  { timer, ...deps }: Pick<ServerRecords, "serverKey"> & Pick<HostedParts, "log" | "timer">,
): Mode["close"] {
  const ends = [startSweep(() => reloadKey(deps), KEY_RELOAD_MS, timer)];
  if (linking !== undefined)
    ends.push(startSweep((stopping) => sweepQuestions(linking, stopping), QUESTIONS_MS, timer));
  if (events !== undefined) ends.push(startLinkEvents(events, timer));
  return async () => void (await Promise.all(ends.map((end) => end())));
}

/** A key that cannot be read now stays as it is. */
async function reloadKey({
  serverKey,
  log,
}: Pick<ServerRecords, "serverKey"> & Pick<HostedParts, "log">): Promise<void> {
  try {
    const outcome = await serverKey.reload();
    if (outcome !== "unchanged") log.warn(`server_key_${outcome}`);
  } catch (error) {
    log.warn("server_key_unavailable", errorFields(error));
  }
}

/** A store that is down is asked again the next time. */
async function sweepQuestions(linking: Pages, stopping: AbortSignal): Promise<void> {
  await sweepPendingTokens(linking, stopping).catch((error: unknown) =>
    linking.log.warn("questions_not_swept", errorFields(error)),
  );
}

/** @returns undefined without `EVENTS_URL` */
function createEvents(
  { events: settings, links }: HostedSettings,
  {
    fetchReceiver,
    ...deps
  }: Omit<LinkEventsDeps, "settings" | "fetch" | "vendors"> & Pick<HostedParts, "fetchReceiver">,
): LinkEvents | undefined {
  if (settings === undefined || fetchReceiver === undefined) return undefined;
  const vendors = (): string[] => [...links.vendors.values()].map(({ vendor }) => vendor.id);
  return createLinkEvents({ ...deps, settings, fetch: fetchReceiver, vendors });
}
