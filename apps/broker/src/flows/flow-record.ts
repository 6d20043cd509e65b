/**
 * One flow is one record with one id. Each leg advances it by one conditional write:
 * pushed → started → parked → spent, or → failed. Fields, lifetimes and who can open what: docs/storage-schema.md.
 */
import {
  BINDING_SECONDS,
  type EpochSeconds,
  type JsonObject,
  OAuthError,
  type RecordKey,
  type StoredRecord,
} from "@oauth-broker/oauth-core";

export type FlowStage = "pushed" | "started" | "redeeming" | "parked" | "spent" | "failed";

/** How long a flow lives at each stage. */
export const REQUEST_URI_SECONDS = 300;
export const FLOW_SECONDS = BINDING_SECONDS;
export const CODE_SECONDS = 60;
/** The redacted timeline of a flow stays readable this long for `broker flow ID`. */
export const TIMELINE_SECONDS = 3600;

export interface Flow {
  /** Format version of this record. */
  readonly v: 1;
  readonly clientId: string;
  readonly vendor: string;
  readonly credentialsId: string;
  readonly credentialsSource: "shared" | "byoc" | "environment";
  /** BYOC: the client's own id at the vendor … */
  readonly vendorClientId?: string;
  /** … and its secret, sealed under the keyset (vendor-secret.ts). */
  readonly vendorSecret?: string;
  /** What filled the vendor's {placeholders}. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Manual mode, as the client wrote it. */
  readonly issuer?: string;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  /** What tells the one path its answer may arrive at from others; absent: the callback itself. */
  readonly context?: string;
  readonly redirectUri: string;
  /** The client's own `state`. */
  readonly state?: string;
  /** PKCE #1. */
  readonly codeChallenge: string;
  readonly scope: readonly string[];
  readonly loginHint?: string;
  readonly prompt?: string;
  readonly resource?: string;
  readonly vendorParams?: Readonly<Record<string, string>>;
  /** Whether the vendor was known to send `iss` when the flow began. Metadata comes and goes; the stricter of then and now counts. */
  readonly issExpected: boolean;
  /** Hash over client, vendor, endpoints and credentials; every later leg compares it (bar XA-5). */
  readonly contextHash: string;
  /** SHA-256 of the request_uri handle. */
  readonly requestHash: string;
  /** `browser`: the cookie of the browser that started must come back. `platform`: the client's callback is proxied. */
  readonly binding: "browser" | "platform";
  readonly pushedAt: EpochSeconds;
  /** Key generation from which PKCE #2 and the nonce are derived; neither is stored. */
  readonly kid?: string;
  readonly cookieHash?: string;
  readonly startedAt?: EpochSeconds;
  /** SHA-256 of the broker's code. */
  readonly codeHash?: string;
  /** The vendor's code (or tokens, `redeem_at: callback`), sealed under the broker's code. */
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

export function flowKey(flowId: string): RecordKey {
  return { kind: "flow", id: flowId };
}

/** @throws OAuthError server_error for a record of a format this release does not know */
export function asFlow(record: StoredRecord): Flow {
  if (record.data["v"] !== 1) throw new OAuthError("server_error", "This flow was written by another release");
  return record.data as unknown as Flow;
}

export function asData(flow: Partial<Flow>): JsonObject {
  return flow;
}

/** Personal or one-time values that nobody needs once the browser is back … */
export const FORGOTTEN_WHEN_PARKED = ["state", "loginHint", "vendorParams", "vendorSecret"] as const;
/** … and once the flow has ended; the timeline keeps the rest. */
export const FORGOTTEN_AT_END = ["sealed", ...FORGOTTEN_WHEN_PARKED] as const;
