/**
 * Hosted mode assembled: this server is an OAuth authorization server and stores its users' vendor
 * tokens.
 */
import type { Clock, Fetch } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/client";
import { errorFields, type Log } from "@oauth-broker/oauth-core/service";
import type { Mode } from "../mode.ts";
import type { HostedSettings } from "../settings.ts";
import type { Storage } from "../storage.ts";
import type { HostedDeps } from "./deps.ts";
import { createHostedGate } from "./gate.ts";
import { identitySource } from "./vendor-links/identity-source.ts";
import { vendorIssuerWarning } from "./metadata.ts";
import { resourceMetadataUrl, resourceOf } from "./paths.ts";
import { hostedRoutes } from "./routes.ts";
import { linkingDeps } from "./linking/deps.ts";
import { sweepQuestions } from "./linking/store-link.ts";
import { ticketsOf } from "./linking/tickets.ts";
import { createServerRecords } from "./server-key.ts";
import { createSessions } from "./sessions/sessions.ts";

export interface HostedParts {
  readonly storage: Storage;
  readonly vendorClient: VendorClient;
  readonly fetchDocument: Fetch;
  readonly now: Clock;
  readonly log: Log;
}

export function createHosted(settings: HostedSettings, { storage, ...parts }: HostedParts): Mode {
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
  const { linking } = settings;
  const sessions = createSessions({ records, serverKey, audience, source: identitySource(settings), now, linking });
  const deps: HostedDeps = { ...parts, settings, records, tokens, serverKey, sessions };
  startSweep(deps);
  return {
    gate: createHostedGate({ ...deps, tickets: ticketsOf(deps) }),
    seals: serverKey,
    routes: hostedRoutes(deps),
    resourceMetadata: resourceMetadataUrl(settings.deploymentUrl),
    // Cached after the first read: the key service is not asked again.
    ready: async () => {
      await storage.ping();
      await serverKey.derive("token-tag");
    },
    lateWarning: () => vendorIssuerWarning(deps),
  };
}

const SWEEP_MS = 30_000;

/** While the process runs. A store that is down is asked again the next time. */
function startSweep(deps: HostedDeps): void {
  const linking = linkingDeps(deps, async () => undefined);
  if (linking === undefined) return;
  const sweep = (): Promise<void> =>
    sweepQuestions(linking).catch((error: unknown) => deps.log.warn("questions_not_swept", errorFields(error)));
  setInterval(() => void sweep(), SWEEP_MS).unref();
}
