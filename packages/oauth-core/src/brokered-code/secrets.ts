/**
 * The secrets of a flow, for an app's policy. PKCE #2 and the OpenID nonce are derived from a server
 * key and the name of the flow: neither is stored, a reload gives the same URL, and every process
 * derives the same values. An app without a key may issue `state` as a handle.
 */
import { createHandle, parseHandle } from "../authorization-server/handle.ts";
import { defined } from "../mechanics/defined.ts";
import { hmac } from "../protocol/mac.ts";
import { isSameText } from "../protocol/secret.ts";
import { deriveCodeChallenge, deriveCodeVerifier } from "../protocol/pkce.ts";
import { isIdTokenDue } from "../vendor-client/issuer.ts";
import type { EpochSeconds } from "../ports.ts";
import type { ResolvedVendor } from "../registry/vendor.ts";
import type { FlowRecord } from "./record.ts";

/** PKCE (RFC 7636) and the OpenID nonce of one flow. */
export interface FlowSecrets {
  /** Absent when the vendor does not support PKCE. */
  readonly codeVerifier?: string;
  /** Present when the vendor must return an ID token. */
  readonly nonce?: string;
}

/** Server keys of at least 32 random bytes each, used for no other purpose. */
export interface FlowKeys {
  readonly pkce: Buffer;
  readonly nonce: Buffer;
}

/**
 * @param name the flow's id, or PKCE #1 without a record
 * @param scope requested at the vendor
 */
//= bar#VR-1
//= bar#VR-3
export function flowSecrets(
  keys: FlowKeys,
  name: string,
  vendor: ResolvedVendor,
  scope: readonly string[],
): FlowSecrets {
  const nonce = (): string => hmac("sha256", keys.nonce, `nonce\0${name}`).toString("base64url");
  return defined({
    codeVerifier: vendor.pkce === "none" ? undefined : deriveCodeVerifier(keys.pkce, name),
    nonce: isIdTokenDue(vendor, scope) ? nonce() : undefined,
  });
}

/** PKCE #2 by the vendor's method; for `plain` it is the verifier. */
export function challengeFor(
  { pkce }: Pick<ResolvedVendor, "pkce">,
  codeVerifier: string | undefined,
): string | undefined {
  if (codeVerifier === undefined) return undefined;
  return pkce === "plain" ? codeVerifier : deriveCodeChallenge(codeVerifier);
}

/** How an app writes `state`: signed, or as a handle whose hash is in the record. */
export interface FlowState<Flow> {
  /** @returns the value sent to the vendor, and the fields that the record keeps */
  issue(
    flowId: string,
    flow: Flow,
    times: { readonly issuedAt: EpochSeconds; readonly expiresAt: EpochSeconds },
  ): { readonly value: string; readonly kept?: Pick<FlowRecord, "stateHash"> };
  /**
   * @returns undefined for a value that this app cannot have issued
   * @throws OAuthError temporarily_unavailable without keys
   */
  read(value: string): Promise<ReadState<Flow> | undefined>;
  /** As `read`, but also for a value that has expired: to name its flow, never to continue it. */
  identify(value: string): Promise<ReadState<Flow> | undefined>;
}

/** What a `state` that we issued says; the record decides whether its flow goes on. */
export interface ReadState<Flow> {
  readonly flowId: string;
  isOf(flow: Flow): boolean;
}

/**
 * `state` as a handle: the flow's id and a secret whose hash is in the record. It needs no key. It
 * does not work with pushed requests, because a reload would issue another value.
 */
export const HANDLE_STATE: FlowState<FlowRecord> = {
  issue: (flowId) => {
    const { value, hash } = createHandle(flowId);
    return { value, kept: { stateHash: hash } };
  },
  read: async (value) => readHandle(value),
  // Its record says when it expires.
  identify: async (value) => readHandle(value),
};

function readHandle(value: string): ReadState<FlowRecord> | undefined {
  const state = parseHandle(value);
  if (state === undefined) return undefined;
  return { flowId: state.flowId, isOf: ({ stateHash }) => isSameText(stateHash, state.hash) };
}
