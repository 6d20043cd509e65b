/**
 * The configuration as the rest of the broker sees it: parsed and validated, with absolute paths
 * and with secrets wrapped or hashed.
 */
import type { Secret } from "@oauth-broker/oauth-core";
import type { TracingSettings } from "@oauth-broker/service/configuration";
import type { EgressOptions } from "@oauth-broker/oauth-core/egress";
import type { RegistryEntry, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { Client, EncryptedResponse } from "@oauth-broker/oauth-core/authorization-server";
import type { ListenOptions } from "@oauth-broker/service";

/** The whole configuration, read and checked. */
export interface Config {
  /** Absolute path of the file this came from; absent in the sandbox. */
  readonly file?: string;
  /**
   * No configuration at all: loopback only, generated keys, one generated client, and built-in
   * practice vendors.
   */
  readonly sandbox: boolean;
  /** The broker's issuer, byte for byte: an origin without path and trailing slash. */
  readonly baseUrl: string;
  readonly listen: Omit<ListenOptions, "isTrustedProxy"> & {
    /** In CIDR notation. */
    readonly trustedProxies: readonly string[];
  };
  readonly store: StoreConfig;
  readonly keys: KeysConfig;
  readonly audit: AuditConfig;
  /** A keyset of a lower revision is refused, because it is an older keyset put back. */
  readonly keysMinRevision?: number;
  /** Prefix of every id, 1 to 16 of a-z and 0-9. */
  readonly cell?: string;
  readonly owners: readonly OwnerConfig[];
  readonly clients: readonly ClientConfig[];
  readonly vendors: ReadonlyMap<string, VendorConfig>;
  readonly limits: LimitsConfig;
  readonly egress: Omit<EgressOptions, "maxBodyBytes" | "answerBounds" | "refusedHosts">;
  /** Absent: no spans are sent. */
  readonly tracing?: TracingSettings;
  /** Warnings for the operator at start: whole sentences without any secret. */
  readonly warnings: readonly string[];
}

export type StoreConfig =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly path: string }
  | {
      readonly kind: "dynamodb";
      readonly table: string;
      readonly region: string;
      /**
       * An origin. Absent: AWS's own endpoint for the region, or the one in the variables of the
       * SDK.
       */
      readonly endpoint?: string;
    };

/**
 * `store`: the keyset is in the store, sealed by a key file beside it. `file`: it is in a separate
 * file. `kms`: it is in the store, sealed under that key (the ARN of a key or of an alias).
 */
export type KeysConfig =
  | { readonly kind: "store" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "kms"; readonly keyArn: string };

/** Where the audit stream goes; `stdout`: among the lines of the log. */
export type AuditConfig =
  | { readonly kind: "off" }
  | { readonly kind: "stdout" }
  | { readonly kind: "file"; readonly path: string };

export interface OwnerConfig {
  readonly id: string;
  readonly name?: string;
  readonly approvedVendors: readonly string[];
  /** By vendor id. Each token is sent only to the vendor it was issued for. */
  readonly initialAccessTokens: ReadonlyMap<string, Secret>;
}

export interface ClientConfig extends Client {
  readonly owner?: string;
  /** The owner's own name, as users see it. */
  readonly ownerName?: string;
  readonly name?: string;
  /** Ids of the vendors this client may use; absent = all. */
  readonly vendors?: readonly string[];
  readonly browserBinding: "required" | "platform";
  /** What is in its answers: the vendor's refresh token, or a sealed one. Absent: the vendor's. */
  readonly refreshTokens?: "vendor" | "sealed";
  readonly allowOverrides: boolean;
  /** Those of the owner; of the client itself when it has no owner. */
  readonly approvedVendors: readonly string[];
  /** Those of the owner, by vendor id. */
  readonly initialAccessTokens?: ReadonlyMap<string, Secret>;
  readonly initiateLoginUri?: string;
  /** Encrypts the client's token answers, so that only the client can read them. */
  readonly encryptedResponse?: EncryptedResponse;
}

/**
 * A vendor as the registry knows it, before the operator's file adds to it. The operator's own
 * vendor has fewer fields.
 */
export type VendorTemplate = Pick<RegistryEntry, "vendor" | "placeholders" | "setup" | "byoc" | "serverUrl"> &
  Partial<Pick<RegistryEntry, "verification" | "aliases" | "sunsets" | "clientsOf" | "setupNote" | "generationOf">>;

/** The broker's client at a vendor. */
export interface ConfiguredCredentials extends VendorCredentials {
  /** By placeholder: the tenants it is used at, of those of its vendor. */
  readonly tenants?: TenantValues;
}

/** Values by placeholder. */
export type TenantValues = Readonly<Record<string, readonly string[]>>;

export interface VendorConfig extends VendorTemplate {
  /**
   * The first is used for new flows, the others for refresh and revocation only. When empty, only
   * clients with BYOC credentials can use the vendor.
   */
  readonly credentials: readonly ConfiguredCredentials[];
  /**
   * If each tenant issues its own clients: by placeholder, the tenants at which the broker's
   * credentials are used. Others are for clients with their own credentials.
   */
  readonly tenants?: TenantValues;
  /** For dynamic client registration at the vendor, when the owner has no own token. */
  readonly initialAccessToken?: Secret;
  /**
   * The registry knows that the vendor registers no clients, and the file adds no endpoint for it,
   * so its metadata is not fetched.
   */
  readonly registersNoClients?: boolean;
  /**
   * How the file identifies the account, for tokens without an ID token: by userinfo, or by the
   * vendor's own kind of account or identity. Absent: the file does not say.
   */
  readonly accountBy?: "userinfo" | "own";
}

export interface LimitsConfig {
  /** Limits per client; 0 = off. */
  readonly parPerMinute: number;
  readonly explainPerMinute: number;
  /** Token, revoke, check and register requests together. */
  readonly vendorCallsPerMinute: number;
  readonly bodyBytes: number;
}
