/**
 * The vendor's code is valid once. A request claims it first, by one conditional write that all
 * processes see; the result is written afterwards. The record's id is a hash over code and PKCE
 * challenge: an attacker who knows the code but not the verifier addresses another record, and can
 * neither take the claim from its owner nor end the owner's session (bar AS-4).
 */
import { OAuthError, type RecordKey } from "@oauth-broker/oauth-core";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { HostedDeps } from "../deps.ts";

/** No vendor accepts a code older than this. */
const REMEMBERED_SECONDS = 600;

export interface VendorCode {
  readonly code: string;
  /** PKCE #1: of the verifier that was sent with the code. */
  readonly codeChallenge: string;
}

/**
 * @throws OAuthError invalid_grant when the code was used before: the session it produced then ends
 */
//= rfc6749#4.1.2
export async function claimCode(code: VendorCode, deps: HostedDeps): Promise<void> {
  const { records, now, sessions, settings } = deps;
  const lifetimeSeconds = settings.vendor.vendor.authorizationCodeLifetimeSeconds ?? 0;
  const claimed = await records.create({
    key: keyOf(code),
    stage: "claimed",
    data: { v: 1 },
    expiresAt: now() + Math.max(REMEMBERED_SECONDS, lifetimeSeconds),
  });
  if (claimed === "created") return;
  const used = await records.get(keyOf(code));
  // The claim was released just now: the vendor could not be reached, and the code is still valid.
  if (used === undefined) throw new OAuthError("temporarily_unavailable", "The code is in use: try it again");
  const { sessionId } = used.data;
  //= bar#AS-4
  if (typeof sessionId === "string") await sessions.end(sessionId);
  throw new OAuthError("invalid_grant", "The code was used before", {
    detail: typeof sessionId === "string" ? "code replayed: its session has ended" : "code is being redeemed",
  });
}

/**
 * No tokens were issued: the holder of code and verifier may try again.
 *
 * @returns whether the claim is released
 */
export async function releaseCode(code: VendorCode, { records }: Pick<HostedDeps, "records">): Promise<boolean> {
  return records.delete(keyOf(code)).then(
    () => true,
    () => false,
  );
}

/**
 * So that a second use can end the session. Best effort: without this the second use is refused all
 * the same.
 */
export async function recordSession(
  code: VendorCode,
  sessionId: string,
  { records }: Pick<HostedDeps, "records">,
): Promise<void> {
  await records
    .advance(keyOf(code), { stage: "claimed", expect: {} }, { stage: "redeemed", set: { sessionId } })
    .catch(() => undefined);
}

function keyOf({ code, codeChallenge }: VendorCode): RecordKey {
  return { kind: "vendor-code", id: hashOf(`${codeChallenge}.${code}`) };
}
