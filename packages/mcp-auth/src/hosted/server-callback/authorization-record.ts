/**
 * One authorization with this server's own callback: one record, one conditional write per leg,
 * started → parked → redeeming → spent, or → failed. docs/storage-schema.md has the fields.
 */
import type { JsonObject, RecordKey, StoredRecord } from "@oauth-broker/oauth-core";

export type AuthorizationStage = "started" | "parked" | "redeeming" | "spent" | "failed";

/** From our redirect to the vendor to its answer. */
export const STARTED_SECONDS = 600;
/** From our redirect to the client to its request at /token. */
//= bar#AS-5
export const CODE_SECONDS = 60;
/** So that a code that is used again can be known for one, and its session ended. */
export const REMEMBERED_SECONDS = 600;

export interface Authorization {
  readonly v: 2;
  readonly clientId: string;
  /** The vendor the browser was sent to, with `issuer`, as links are named by it. */
  readonly vendor: string;
  readonly issuer: string;
  /** As requested, verified then and again before every redirect. */
  readonly redirectUri: string;
  /** PKCE #1. */
  readonly codeChallenge: string;
  /** Asked at the vendor. */
  readonly scope: readonly string[];
  /** The client's own, echoed byte for byte. */
  readonly state?: string;
  /** Of our `state` at the vendor. */
  readonly stateHash: string;
  /** Of the cookie of the browser that consented. */
  readonly cookieHash: string;
  /** Of our code. */
  readonly codeHash?: string;
  /** The vendor's code, sealed under a key derived from our code, which is stored nowhere. */
  readonly sealedCode?: string;
  /** The session that came of it. */
  readonly sessionId?: string;
}

export function authorizationKey(id: string): RecordKey {
  return { kind: "authorization", id };
}

export function asAuthorization({ data }: StoredRecord): Authorization {
  return data as unknown as Authorization;
}

export function asData(authorization: Partial<Authorization>): JsonObject {
  return authorization;
}
