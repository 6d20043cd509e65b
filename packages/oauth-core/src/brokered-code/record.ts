/**
 * One flow is one record with one id. Each leg moves it by one conditional write:
 * pushed → started → parked → spent, or → failed; `redeeming` in between where tokens are fetched at the callback; `redeemed`
 * where the app notes what came of a spent code.
 * An app adds fields of its own; docs/storage-schema.md lists all of them.
 */
import { BINDING_SECONDS } from "../authorization-server/browser-binding.ts";
import type { EpochSeconds, JsonObject } from "../ports.ts";

export type FlowStage = "pushed" | "started" | "redeeming" | "parked" | "spent" | "redeemed" | "failed";

/** How long a request_uri waits for its browser. */
//= bar#ST-7
export const REQUEST_URI_SECONDS = 300;
/** How long a flow waits for its user at the vendor. */
export const FLOW_SECONDS = BINDING_SECONDS;
/** How long a code of ours waits for its client at most. */
//= bar#AS-5
export const CODE_SECONDS = 60;

/**
 * Where a flow ends. `client`: with a code of ours, which the client redeems at our token endpoint. `link` and `sign_in`: at the
 * callback, where the app keeps the vendor's tokens or learns who the user is.
 */
export type Purpose = "client" | "link" | "sign_in";

/** The data of a flow's record that every app keeps. */
export interface FlowRecord {
  /** Format version of the app's records. */
  readonly v: number;
  readonly purpose: Purpose;
  /** Of the callback: the answer counts at this path of ours alone. */
  readonly path: string;
  readonly vendor: string;
  /** Of ours there, for the log. */
  readonly credentialsId?: string;
  readonly scope: readonly string[];
  /** The client that gets the code, its redirect URI, its own `state` and PKCE #1; absent where the flow ends at the callback. */
  readonly clientId?: string;
  readonly redirectUri?: string;
  readonly state?: string;
  readonly codeChallenge?: string;
  readonly resource?: string;
  readonly loginHint?: string;
  readonly prompt?: string;
  /** Further parameters of the vendor's authorization endpoint. */
  readonly vendorParams?: Readonly<Record<string, string>>;
  /** Whether the vendor was known to send `iss` when the flow began. Metadata comes and goes; the stricter of then and now counts. */
  readonly issExpected?: boolean;
  /** SHA-256 of the request_uri handle; only of pushed flows. */
  readonly requestHash?: string;
  /** Of our `state` at the vendor, where that is a handle (state.ts). */
  readonly stateHash?: string;
  readonly cookieHash?: string;
  readonly startedAt?: EpochSeconds;
  /** SHA-256 of our code. */
  readonly codeHash?: string;
  /** The vendor's code, or its tokens where it is redeemed at the callback, sealed under our code (park.ts). */
  readonly sealed?: string;
  readonly parkedAt?: EpochSeconds;
  /** The vendor sent `iss` and it was the right one. */
  readonly issVerified?: boolean;
  readonly spentAt?: EpochSeconds;
  readonly failed?: {
    readonly at: EpochSeconds;
    readonly leg: "authorize" | "callback" | "token";
    readonly reason: string;
  };
}

/** As the record store takes it. */
export function flowData(flow: object): JsonObject {
  return flow as JsonObject;
}
