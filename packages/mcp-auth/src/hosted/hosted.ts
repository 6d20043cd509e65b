/** Hosted mode, put together: this server is an OAuth authorization server and keeps its users' vendor tokens. For app.ts. */
import type { Clock, Fetch, VendorClient } from "@oauth-broker/oauth-core";
import type { Mode } from "../mode.ts";
import type { HostedSettings } from "../settings.ts";
import type { Storage } from "../storage.ts";
import type { HostedDeps } from "./deps.ts";
import { createHostedGate } from "./gate.ts";
import { vendorIssuerWarning } from "./metadata.ts";
import { resourceMetadataUrl, resourceOf } from "./paths.ts";
import { hostedRoutes } from "./routes.ts";
import { createServerKey } from "./server-key-record.ts";
import { createSessions } from "./sessions-on-records.ts";

export interface HostedParts {
  readonly storage: Storage;
  readonly vendorClient: VendorClient;
  readonly fetchDocument: Fetch;
  readonly now: Clock;
}

export function createHosted(settings: HostedSettings, { storage, ...parts }: HostedParts): Mode {
  const { records, tokens, keys, context } = storage;
  const serverKey = createServerKey({ records, keys, context });
  const { now } = parts;
  const sessions = createSessions({ records, serverKey, audience: resourceOf(settings.deploymentUrl), now });
  const deps: HostedDeps = { ...parts, settings, records, tokens, serverKey, sessions };
  return {
    gate: createHostedGate(deps),
    routes: hostedRoutes(deps),
    resourceMetadata: resourceMetadataUrl(settings.deploymentUrl),
    // Kept once it was read: after that the key service is not asked again.
    ready: async () => {
      await storage.ping();
      await serverKey.derive("token-tag");
    },
    lateWarning: () => vendorIssuerWarning(deps),
  };
}
