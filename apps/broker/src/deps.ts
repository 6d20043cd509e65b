/** What the flows need, bound once in app.ts. Functions take the part they use with `Pick`. */
import type {
  AssertionDeps,
  ClientRegistry,
  Clock,
  RecordStore,
  StateCodec,
  VendorClient,
  OAuthError,
} from "@oauth-broker/oauth-core";
import type { ClientConfig, VendorConfig } from "./config.ts";
import type { Keyset } from "./keys/keyset.ts";

export interface Deps {
  /** `base_url`: our issuer and the front of every URL of ours. */
  readonly issuer: string;
  readonly cell: string | undefined;
  readonly now: Clock;
  readonly records: RecordStore;
  readonly keyset: Keyset;
  readonly state: StateCodec;
  readonly clients: ClientRegistry<ClientConfig>;
  readonly remoteKeys: AssertionDeps["remoteKeys"];
  readonly vendors: ReadonlyMap<string, VendorConfig>;
  /** For vendors whose hosts the operator or the registry vouches for. */
  readonly vendorClient: VendorClient;
  /** For hosts a request named: public addresses only, and never a private network of the operator's. */
  readonly untrustedVendorClient: VendorClient;
  /** Requests may name http endpoints on loopback too. */
  readonly allowLoopback: boolean;
}

/** What one request turned out to be about, filled in as it becomes known; the rim logs and counts it. */
export interface Trace {
  flowId?: string;
  clientId?: string;
  vendor?: string;
  credentialsId?: string;
  /** Names a bug of ours in the answer and in the log. */
  referenceId?: string;
  /** An error that left as a redirect: told to the client, and logged like one that left as JSON. */
  failure?: OAuthError;
  /** Why a browser saw the 400 page, in a word: `state_replayed`, `browser_mismatch`, … */
  reason?: string;
}
