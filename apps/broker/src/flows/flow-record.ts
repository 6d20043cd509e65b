/**
 * The record of one flow: the engine's fields, its vendor, and whose credentials it uses.
 * docs/storage-schema.md has the fields, their lifetimes and who can open them.
 */
import { OAuthError, type RecordKey, type StoredRecord } from "@oauth-broker/oauth-core";
import type { FlowRecord } from "@oauth-broker/oauth-core/brokered-code";
import type { VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";
import type { ChosenBefore } from "../vendor-choice/choose.ts";
import { keysUnavailable } from "../keys/keys-unavailable.ts";

/** The redacted timeline of a flow stays readable this long for `broker flow ID`. */
export const TIMELINE_SECONDS = 3600;

export interface Flow extends FlowRecord, ChosenBefore {
  readonly v: 1;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The challenge of PKCE #1. */
  readonly codeChallenge: string;
  readonly credentialsId: string;
  /** BYOC: the client's own secret at the vendor, sealed under the keyset. */
  readonly vendorSecret?: string;
  readonly issExpected: boolean;
  /**
   * Hash over client, vendor, endpoints and credentials; every later leg compares it (bar#XA-5).
   */
  readonly contextHash: string;
  readonly requestHash: string;
  /**
   * `browser`: the cookie of the browser that started must come back. `platform`: the client
   * proxies the callback.
   */
  readonly binding: "browser" | "platform";
  readonly pushedAt: number;
  /** The key generation that PKCE #2 and the nonce are derived from; neither is stored. */
  readonly kid?: string;
}

export function flowKey(flowId: string): RecordKey {
  return { kind: "flow", id: flowId };
}

/** @throws OAuthError server_error for a record of a format this release does not know */
export function asFlow({ data }: StoredRecord): Flow {
  if (data["v"] !== 1) throw new OAuthError("server_error", "This flow was written by another release");
  return data as unknown as Flow;
}

const FORGOTTEN_WHEN_PARKED = ["state", "loginHint", "vendorParams", "vendorSecret"] as const;

/**
 * Fields that are removed: personal and one-time values once the browser is back, more once the
 * flow has ended. The timeline keeps the others.
 */
export const FORGOTTEN = {
  whenParked: FORGOTTEN_WHEN_PARKED,
  atEnd: ["sealed", ...FORGOTTEN_WHEN_PARKED],
} as const;

const PURPOSE = "vendor-secret";

/**
 * A BYOC secret between the legs of its flow. From /v1/par until the browser is back it is in the
 * flow record, sealed under the keyset. Then it moves into the parked value, which only the
 * broker's code opens, and is deleted with it.
 */
//= bar#BY-1
export function sealVendorSecret(
  flowId: string,
  { source, clientSecret }: VendorCredentials,
  { keyset }: Pick<Deps, "keyset">,
): string | undefined {
  if (source !== "byoc" || clientSecret === undefined) return undefined;
  const { kid, key } = keyset.active(PURPOSE);
  return `${kid}.${seal(key, clientSecret.reveal(), ["flow", flowId, PURPOSE])}`;
}

/**
 * @throws OAuthError temporarily_unavailable when its key is missing, server_error when the record
 *   was altered
 */
export async function openVendorSecret(
  flowId: string,
  { vendorSecret }: Pick<Flow, "vendorSecret">,
  { keyset }: Pick<Deps, "keyset">,
): Promise<string | undefined> {
  if (vendorSecret === undefined) return undefined;
  const dot = vendorSecret.indexOf(".");
  const key = await keyset.find(PURPOSE, vendorSecret.slice(0, Math.max(dot, 0)));
  if (key === undefined) throw keysUnavailable("the keyset lacks the key of this flow's client secret");
  try {
    return open(key, vendorSecret.slice(dot + 1), ["flow", flowId, PURPOSE]).toString("utf8");
  } catch (cause) {
    throw new OAuthError("server_error", "Something went wrong on our side", {
      cause,
      detail: "vendorSecret does not open",
    });
  }
}
