/**
 * The scope of a narrower request. With the platform's callback `/token` does not receive the
 * `scope` of `/authorize`, and a vendor that grants what was requested may leave `scope` out of its
 * response (RFC 6749 §5.1). Only requests for less than `VENDOR_SCOPES` leave a record; it is not a
 * secret and grants nothing. Why: docs/decisions/0019.
 */
import type { RecordKey } from "@oauth-broker/oauth-core";
import { isSubset, parseScope } from "@oauth-broker/oauth-core/protocol";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { HostedDeps } from "../deps.ts";

/** A user may take time at the vendor: to log in, or to wait for an administrator's approval. */
const REMEMBERED_SECONDS = 3_600;

/**
 * @param codeChallenge PKCE #1, by which `/token` finds the record
 * @param scope requested at the vendor
 * @throws OAuthError temporarily_unavailable when the records cannot be reached
 */
export async function recordNarrowRequest(
  codeChallenge: string,
  scope: readonly string[],
  { records, now, settings }: Pick<HostedDeps, "records" | "now" | "settings">,
): Promise<void> {
  if (isSubset(settings.vendor.scopes, scope)) return;
  // A request that is sent twice is the same request: the first record stays.
  await records.create({
    key: keyOf(codeChallenge),
    stage: "asked",
    data: { v: 1, scope: scope.join(" ") },
    expiresAt: now() + REMEMBERED_SECONDS,
  });
}

/**
 * @returns the scope the flow of this challenge requested: `VENDOR_SCOPES` unless a record says
 *   less
 */
export async function requestedScope(
  codeChallenge: string,
  { records, settings }: Pick<HostedDeps, "records" | "settings">,
): Promise<readonly string[]> {
  const narrow = (await records.get(keyOf(codeChallenge)))?.data["scope"];
  return typeof narrow === "string" ? parseScope(narrow) : settings.vendor.scopes;
}

function keyOf(codeChallenge: string): RecordKey {
  return { kind: "narrow-request", id: hashOf(codeChallenge) };
}
