/**
 * One flow is one record with one id. Each leg advances it by one conditional write: pushed →
 * started → parked → spent, or → failed. `redeeming` is in between when the tokens are fetched at
 * the callback, and `redeemed` follows when the app notes the result of a spent code. An app adds
 * its own fields; docs/storage-schema.md lists all of them.
 */
import { BINDING_SECONDS } from "../authorization-server/browser-binding.ts";
import type { EpochSeconds, JsonObject } from "../ports.ts";

export type FlowStage = "pushed" | "started" | "redeeming" | "parked" | "spent" | "redeemed" | "failed";

/** The lifetime of a request_uri. */
//= bar#ST-7
export const REQUEST_URI_SECONDS = 300;
/** The time that a user has at the vendor. */
export const FLOW_SECONDS = BINDING_SECONDS;
/** The longest lifetime of our codes. */
//= bar#AS-5
export const CODE_SECONDS = 60;

/**
 * Where a flow ends. `client`: at our token endpoint, when the client redeems our code. `link` and
 * `sign_in`: at the callback, when the app stores the vendor's tokens or learns who the user is.
 */
type Purpose = "client" | "link" | "sign_in";

/** The fields of a flow record that every app has. */
export interface FlowRecord {
  /** The format version of the app's records. */
  readonly v: number;
  readonly purpose: Purpose;
  /** Our callback path. The vendor's redirect is accepted on no other path. */
  readonly path: string;
  readonly vendor: string;
  /** Names our credentials at the vendor, for the log. */
  readonly credentialsId?: string;
  readonly scope: readonly string[];
  /**
   * The client that receives the code, its redirect URI, its own `state` and PKCE #1. Absent when
   * the flow ends at the callback.
   */
  readonly clientId?: string;
  readonly redirectUri?: string;
  readonly state?: string;
  readonly codeChallenge?: string;
  readonly resource?: string;
  readonly loginHint?: string;
  readonly prompt?: string;
  /** Further parameters for the vendor's authorization endpoint. */
  readonly vendorParams?: Readonly<Record<string, string>>;
  /**
   * Whether the vendor was known to send `iss` when the flow began. Metadata can disappear; the
   * stricter of then and now applies.
   */
  readonly issExpected?: boolean;
  /** SHA-256 of the request_uri handle, for pushed flows. */
  readonly requestHash?: string;
  /** SHA-256 of our `state` at the vendor, when that is a handle (state.ts). */
  readonly stateHash?: string;
  readonly cookieHash?: string;
  readonly startedAt?: EpochSeconds;
  /** SHA-256 of our code. */
  readonly codeHash?: string;
  /**
   * The vendor's code, or its tokens when they are fetched at the callback; sealed under our code.
   */
  readonly sealed?: string;
  readonly parkedAt?: EpochSeconds;
  /** Whether the vendor sent `iss`; a wrong value is refused. */
  readonly issVerified?: boolean;
  readonly spentAt?: EpochSeconds;
  readonly failed?: {
    readonly at: EpochSeconds;
    readonly leg: "authorize" | "callback" | "token";
    readonly reason: string;
  };
}

/** The type that the record store expects. */
export function flowData(flow: object): JsonObject {
  return flow as JsonObject;
}
