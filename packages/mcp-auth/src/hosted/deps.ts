/**
 * The dependencies of hosted mode, connected once in hosted.ts. Functions take the members they use
 * with `Pick`.
 */
import type { Clock, Fetch, RecordStore } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { Log } from "@oauth-broker/service";
import type { LinkEvents } from "@oauth-broker/service/events";
import type { TokenStore } from "@oauth-broker/token-store";
import type { Presentation } from "../presentation/presentation.ts";
import type { HostedSettings } from "../settings.ts";
import type { ServerKey } from "./records/server-key.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { SignInGeneration } from "./sessions/sign-in-generation.ts";

export interface HostedDeps {
  readonly settings: HostedSettings;
  readonly presentation: Presentation;
  readonly now: Clock;
  /** In the same table, or the same folder, as the tokens; each under a MAC of the server key. */
  readonly records: RecordStore;
  readonly tokens: TokenStore;
  readonly serverKey: ServerKey;
  readonly sessions: Sessions;
  readonly signInGeneration: SignInGeneration;
  readonly vendorClient: VendorClient;
  /**
   * For Client ID Metadata Documents: `fetchUntrusted` of an egress with small limits
   * (clients/metadata-document.ts): public addresses, loopback only if permitted.
   */
  readonly fetchDocument: Fetch;
  /** For those of hosts that no one listed: never loopback. */
  readonly fetchPublicDocument: Fetch;
  readonly log: Log;
  /** With `EVENTS_URL`. */
  readonly events?: Pick<LinkEvents, "note"> | undefined;
}
