/**
 * The configuration as the rest of the broker sees it: parsed, checked, paths absolute, secrets
 * wrapped or hashed.
 */
import type { Secret } from "@oauth-broker/oauth-core";
import type { RegistryEntry, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { Client, EncryptedResponse } from "@oauth-broker/oauth-core/server";
import type { ListenOptions } from "@oauth-broker/oauth-core/service";

export interface Config {
  /** Absolute path of the file this came from; absent in the sandbox. */
  readonly file?: string;
  /**
   * No configuration at all: loopback only, generated keys, one generated client, a vendor of our
   * own.
   */
  readonly sandbox: boolean;
  /** Our issuer, byte for byte: an origin without path and trailing slash. */
  readonly baseUrl: string;
  readonly listen: ListenOptions;
  readonly store: StoreConfig;
  readonly keys: KeysConfig;
  /** A keyset of a lower revision is refused: it was put back. */
  readonly keysMinRevision?: number;
  /** Prefix of every id, 1 to 16 of a-z and 0-9. */
  readonly cell?: string;
  readonly owners: readonly OwnerConfig[];
  readonly clients: readonly ClientConfig[];
  readonly vendors: ReadonlyMap<string, VendorConfig>;
  readonly limits: LimitsConfig;
  readonly egress: EgressConfig;
  /** What the operator should hear about at start: whole sentences without any secret. */
  readonly warnings: readonly string[];
}

export type StoreConfig =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly path: string }
  | {
      readonly kind: "dynamodb";
      readonly table: string;
      readonly region: string;
      /** An origin; absent: AWS's own for the region, or what the SDK's variables say. */
      readonly endpoint?: string;
    };

/**
 * `store`: the keyset lies in the store, sealed by a key file beside it. `file`: it lies in a file
 * of its own. `kms`: it lies in the store, sealed under that key (the ARN of a key or of an alias).
 */
export type KeysConfig =
  | { readonly kind: "store" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "kms"; readonly keyArn: string };

export interface OwnerConfig {
  readonly id: string;
  readonly name?: string;
  readonly approvedVendors: readonly string[];
  /** By vendor id: each token goes to the vendor it was given for, and nowhere else. */
  readonly initialAccessTokens: ReadonlyMap<string, Secret>;
}

export interface ClientConfig extends Client {
  readonly owner?: string;
  /** The owner's own name, as users see it. */
  readonly ownerName?: string;
  readonly name?: string;
  /** Vendor ids this client may use; absent = all. */
  readonly vendors?: readonly string[];
  readonly browserBinding: "required" | "platform";
  readonly allowOverrides: boolean;
  /** The owner's, or without an owner the client's own. */
  readonly approvedVendors: readonly string[];
  /** The owner's, by vendor id. */
  readonly initialAccessTokens?: ReadonlyMap<string, Secret>;
  readonly initiateLoginUri?: string;
  /** Its token answers are for its eyes only. */
  readonly encryptedResponse?: EncryptedResponse;
}

/**
 * A vendor as the registry knows it, before the operator's file adds to it; one of the operator's
 * own says less.
 */
export type VendorTemplate = Pick<RegistryEntry, "vendor" | "placeholders" | "setup" | "byoc" | "serverUrl"> &
  Partial<Pick<RegistryEntry, "verification">>;

export interface VendorConfig extends VendorTemplate {
  /**
   * The first is used for new flows, the rest refresh and revoke only. Empty: BYOC is the only way.
   */
  readonly credentials: readonly VendorCredentials[];
  /** For dynamic client registration there, where the owner has none of its own. */
  readonly initialAccessToken?: Secret;
  /**
   * The registry knows of no registration there, and the file says nothing else: its metadata need
   * not be asked.
   */
  readonly registersNoClients?: boolean;
  /**
   * The file names its userinfo endpoint, which names the account of tokens that come without an ID
   * token.
   */
  readonly asksUserinfo?: boolean;
}

export interface LimitsConfig {
  /** Each per client; 0 = off. */
  readonly parPerMinute: number;
  readonly explainPerMinute: number;
  /** Token, revoke and register together. */
  readonly vendorCallsPerMinute: number;
  readonly bodyBytes: number;
}

export interface EgressConfig {
  readonly allowLoopback: boolean;
  readonly allowCidrs: readonly string[];
  readonly timeoutMs: number;
  /** PEM certificates trusted besides the default roots. */
  readonly caPem?: string;
}
