/** Hosted mode, put together: this server is an OAuth authorization server and keeps its users' vendor tokens. For app.ts. */
import type { Clock, VendorClient } from "@oauth-broker/oauth-core";
import type { Mode } from "../mode.ts";
import type { HostedSettings } from "../settings.ts";
import type { Storage } from "../storage.ts";
import type { HostedDeps } from "./deps.ts";
import { createHostedGate } from "./gate.ts";
import { resourceMetadataUrl, resourceOf } from "./paths.ts";
import { hostedRoutes } from "./routes.ts";
import { createServerKey } from "./server-key-record.ts";
import { createSessions } from "./sessions-on-records.ts";

export interface HostedParts {
  readonly storage: Storage;
  readonly vendorClient: VendorClient;
  readonly now: Clock;
}

export function createHosted(settings: HostedSettings, parts: HostedParts): Mode {
  const deps = hostedDeps(settings, parts);
  return {
    gate: createHostedGate(deps),
    routes: hostedRoutes(deps),
    resourceMetadata: resourceMetadataUrl(settings.deploymentUrl),
  };
}

/** Also for the operator's commands, which work on the same records without serving. */
export function hostedDeps(settings: HostedSettings, { storage, vendorClient, now }: HostedParts): HostedDeps {
  const { records, tokens, keys, context } = storage;
  const serverKey = createServerKey({ records, keys, context });
  const sessions = createSessions({ records, serverKey, audience: resourceOf(settings.deploymentUrl), now });
  return { settings, now, records, tokens, serverKey, sessions, vendorClient };
}
