/**
 * A code of ours and its record: found, claimed by one of any number of tries, and settled. redeem-own-code.ts says in which order.
 */
import { type Handle, isSameText, OAuthError, parseHandle, type Parameters } from "@oauth-broker/oauth-core";
import type { Trace } from "@oauth-broker/oauth-core/service";
import {
  asAuthorization,
  asData,
  type Authorization,
  authorizationKey,
  type AuthorizationStage,
  REMEMBERED_SECONDS,
} from "./authorization-record.ts";
import type { ServerCallbackDeps } from "./deps.ts";

export interface OwnCode {
  readonly code: Handle;
  readonly flow: Authorization;
  /** Of the code. */
  readonly expiresAt: number;
}

/** One that was redeemed stays known for longer than it was good, so that its second use is seen for what it is. */
export async function findCode(
  parameters: Parameters,
  { records }: ServerCallbackDeps,
  trace: Trace,
): Promise<OwnCode> {
  const code = parseHandle(parameters.require("code"));
  const record = code === undefined ? undefined : await records.get(authorizationKey(code.flowId));
  if (code === undefined || record === undefined) throw unknownCode();
  const flow = asAuthorization(record);
  if (!isSameText(flow.codeHash, code.hash)) throw unknownCode();
  trace.flowId = code.flowId;
  return { code, flow, expiresAt: record.expiresAt };
}

//= bar#AS-4
export async function claimCode(own: OwnCode, { records, sessions, now }: ServerCallbackDeps): Promise<void> {
  const { code, flow } = own;
  const claimed = await records.advance(
    authorizationKey(code.flowId),
    { stage: "parked", expect: { codeHash: code.hash } },
    // A process that dies here leaves a code that is used up.
    { stage: "redeeming", set: {}, expiresAt: now() + REMEMBERED_SECONDS },
  );
  if (claimed.outcome === "moved") return;
  const { sessionId } = claimed.outcome === "replayed" ? asAuthorization(claimed.record) : flow;
  if (sessionId !== undefined) await sessions.end(sessionId);
  throw new OAuthError("invalid_grant", "The code was used before", {
    detail: sessionId === undefined ? "code is being redeemed" : "code replayed: its session has ended",
  });
}

/** @returns whether it is written; a code that stays claimed is used up */
export async function settleCode(
  stage: Extract<AuthorizationStage, "parked" | "spent">,
  { code, expiresAt }: OwnCode,
  set: Partial<Authorization>,
  { records, now }: ServerCallbackDeps,
): Promise<boolean> {
  const patch = { stage, set: asData(set), expiresAt: stage === "parked" ? expiresAt : now() + REMEMBERED_SECONDS };
  return records
    .advance(authorizationKey(code.flowId), { stage: "redeeming", expect: { codeHash: code.hash } }, patch)
    .then(
      ({ outcome }) => outcome === "moved",
      () => false,
    );
}

export function unknownCode(detail?: string): OAuthError {
  return new OAuthError(
    "invalid_grant",
    "The code is unknown, used or too old",
    detail === undefined ? {} : { detail },
  );
}
