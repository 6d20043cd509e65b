/**
 * Between the callback and the client's token request the vendor's code waits in the record, sealed
 * under a key derived from our code. Only the hash of our code is stored, so that store and server
 * keys together cannot open it. redeem.ts opens it and removes it.
 */
import type { Advanced } from "../ports.ts";
import type { Handle } from "../authorization-server/handle.ts";
import { defined } from "../mechanics/defined.ts";
import { OAuthError } from "../protocol/errors.ts";
import type { ResolvedVendor, VendorTokens } from "../registry/vendor.ts";
import type { VendorAnswer } from "./vendor-answer.ts";
import { type Engine, keyOf, type Leg } from "./engine.ts";
import type { FlowVendor, Parked } from "./policy.ts";
import { CODE_SECONDS, flowData, type FlowRecord } from "./record.ts";

interface ToPark {
  readonly flowId: string;
  readonly expect: Readonly<Record<string, string>>;
  readonly vendor: FlowVendor;
  readonly answer: VendorAnswer;
  /** Ours. */
  readonly code: Handle;
}

/** Leaves time for our call before the vendor's code expires. */
const MARGIN_SECONDS = 5;

/** @returns at least 1 */
//= bar#AS-5
function codeLifetimeSeconds({
  authorizationCodeLifetimeSeconds: life = Infinity,
}: Pick<ResolvedVendor, "authorizationCodeLifetimeSeconds">): number {
  return Math.max(1, Math.min(CODE_SECONDS, life - MARGIN_SECONDS));
}

/**
 * started → parked
 *
 * @throws OAuthError for the 400 page when another answer was faster
 */
export async function parkCode(toPark: ToPark, engine: Leg): Promise<void> {
  const content: Parked = { kind: "code", ...toPark.answer };
  const { outcome } = await park("started", content, codeLifetimeSeconds(toPark.vendor.vendor), toPark, engine);
  //= bar#CB-3
  if (outcome !== "moved") throw engine.policy.refuse(engine.trace, "state_replayed");
}

/**
 * redeeming → parked, for vendors whose codes expire before a client can come back. The tokens wait
 * instead.
 *
 * @throws OAuthError temporarily_unavailable when the record could not be written; the tokens are
 *   then revoked
 */
//= bar#CB-17
export async function parkTokens(
  { tokens, ...toPark }: ToPark & { readonly tokens: VendorTokens },
  engine: Engine,
): Promise<void> {
  const { vendor, answer } = toPark;
  const content: Parked = { kind: "tokens", tokens, callbackData: answer.callbackData };
  const stored = await park("redeeming", content, CODE_SECONDS, toPark, engine).catch(() => undefined);
  if (stored?.outcome === "moved") return;
  await discardTokens(tokens, vendor);
  throw new OAuthError("temporarily_unavailable", "The tokens could not be kept: start again", { retry: "restart" });
}

async function park(
  stage: "started" | "redeeming",
  content: Parked,
  seconds: number,
  { flowId, expect, vendor, answer, code }: ToPark,
  engine: Engine,
): Promise<Advanced> {
  const { deps, policy } = engine;
  const sealed = await policy.seal({ ...content, ...defined({ kept: policy.keep?.(vendor) }) }, code);
  const at = deps.now();
  const set = { codeHash: code.hash, sealed, parkedAt: at, issVerified: answer.iss !== undefined };
  return deps.records.advance(
    keyOf(flowId, engine),
    { stage, expect },
    { stage: "parked", set: flowData(set), remove: policy.forgotten.whenParked, expiresAt: at + seconds },
  );
}

/** Revokes tokens that no client will receive; best effort. */
//= bar#XA-7
export async function discardTokens(
  tokens: VendorTokens,
  { vendor, credentials, vendorClient }: FlowVendor,
): Promise<void> {
  await vendorClient.revokeGrant(vendor, credentials, tokens).catch(() => undefined);
}

/**
 * The only place in the engine that sends a vendor's code.
 *
 * @throws OAuthError as VendorClient.redeemCode
 */
export async function redeemAtVendor(
  {
    flowId,
    flow,
    vendor: { vendor, credentials, vendorClient, redirectUri },
    answer,
  }: {
    readonly flowId: string;
    readonly flow: FlowRecord;
    readonly vendor: FlowVendor;
    readonly answer: VendorAnswer;
  },
  policy: Engine["policy"],
): Promise<VendorTokens> {
  const { codeVerifier, nonce } = await policy.secrets(flowId, flow, vendor);
  return vendorClient.redeemCode(vendor, credentials, {
    code: answer.code,
    redirectUri,
    scope: flow.scope,
    callbackData: answer.callbackData,
    ...defined({ resource: flow.resource, iss: answer.iss, state: answer.state, codeVerifier, nonce }),
  });
}
