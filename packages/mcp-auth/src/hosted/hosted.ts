/**
 * Hosted mode assembled: this server is an OAuth authorization server and stores its users' vendor
 * tokens.
 */
import type { Clock, Fetch, Timer } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/client";
import { errorFields, type Log } from "@oauth-broker/service";
import type { Mode } from "../mode.ts";
import type { Presentation } from "../presentation/presentation.ts";
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
import { createServerRecords } from "./records/server-key.ts";
import { createSessions } from "./sessions/sessions.ts";
import { createSignInGeneration } from "./sessions/sign-in-generation.ts";

export interface HostedParts {
  readonly presentation: Presentation;
  readonly storage: Storage;
  readonly vendorClient: VendorClient;
  readonly fetchDocument: Fetch;
  readonly fetchPublicDocument: Fetch;
  readonly now: Clock;
  readonly timer: Timer;
  readonly log: Log;
}

export function createHosted(settings: HostedSettings, { storage, timer, ...parts }: HostedParts): Mode {
  const { records: table, keys, context, tokens } = storage;
  const { now, log } = parts;
  const { serverKey, records } = createServerRecords({
    records: table,
    keys,
    context,
    adoptUnsealed: settings.adoptUnsealedServerKey,
    onRefused: (kind) => log.warn("record_refused", { reason: kind }),
  });
  const audience = resourceOf(settings.deploymentUrl);
  const source = identitySource(settings);
  const signInGeneration = createSignInGeneration({ records, audience });
  const of = { audience, source, signInGeneration, links: settings.links };
  const sessions = createSessions({ records, serverKey, now, ...of });
  const deps: HostedDeps = { ...parts, settings, records, tokens, serverKey, sessions, signInGeneration };
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
    close: linking === undefined ? async () => {} : startSweep(linking, timer),
  };
}

const SWEEP_MS = 30_000;

/**
 * A store that is down is asked again the next time.
 *
 * @returns ends it, after the question that is being ended
 */
function startSweep(linking: Pages, timer: Timer): Mode["close"] {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const sweep = async (): Promise<void> => {
    await sweepPendingTokens(linking, stopping.signal).catch((error: unknown) =>
      linking.log.warn("questions_not_swept", errorFields(error)),
    );
    running = undefined;
  };
  const sweepOften = async (): Promise<void> => {
    for (;;) {
      await timer.sleep(SWEEP_MS, { background: true });
      if (stopping.signal.aborted) return;
      running ??= sweep();
    }
  };
  void sweepOften();
  return async () => {
    stopping.abort();
    await running;
  };
}
