/**
 * The dependencies of the flows, bound once in app.ts. Functions take the part they use with
 * `Pick`.
 */
import type { Clock, RecordStore, Timer } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { StateCodec } from "@oauth-broker/oauth-core/protocol";
import type { AssertionDeps, ClientRegistry } from "@oauth-broker/oauth-core/authorization-server";
import type { Audit } from "./audit/audit.ts";
import type { ClientConfig, VendorConfig } from "./config.ts";
import type { Keyset } from "./keys/keyset.ts";
import type { Registrations } from "./vendor-choice/registrations.ts";

export interface Deps {
  /** `base_url`: our issuer and the prefix of all our URLs. */
  readonly issuer: string;
  readonly cell: string | undefined;
  readonly now: Clock;
  readonly timer: Timer;
  readonly records: RecordStore;
  readonly keyset: Keyset;
  readonly audit: Audit;
  readonly state: StateCodec;
  readonly clients: ClientRegistry<ClientConfig>;
  readonly remoteKeys: AssertionDeps["remoteKeys"];
  readonly vendors: ReadonlyMap<string, VendorConfig>;
  /** The broker's registrations at vendors, and the clients that share them. */
  readonly registrations: Registrations;
  /** For vendors whose hosts the operator or the registry vouches for. */
  readonly vendorClient: VendorClient;
  /** For hosts under the domain of an entry that a request completed. */
  readonly tenantVendorClient: VendorClient;
  /**
   * For hosts that a request named: public addresses only, never a private network of the operator.
   */
  readonly untrustedVendorClient: VendorClient;
  /** Vendors are reached through the operator's proxy, and what a request names is not. */
  readonly isProxied: boolean;
  /** Requests may name http endpoints on loopback too. */
  readonly allowLoopback: boolean;
}
