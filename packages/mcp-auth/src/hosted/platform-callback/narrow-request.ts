/**
 * What a narrower request asked for. With the platform's callback `/token` does not hear the
 * `scope` of `/authorize`, and a vendor that grants what it was asked for may leave `scope` out of
 * its answer (RFC 6749 §5.1). Only requests for less than `VENDOR_SCOPES` leave a record; it is no
 * secret and permits nothing. Why: docs/decisions/0033.
 */
import type { RecordKey } from "@oauth-broker/oauth-core";
import { isSubset, parseScope } from "@oauth-broker/oauth-core/protocol";
import { hashOf } from "@oauth-broker/oauth-core/server";
import type { HostedDeps } from "../deps.ts";

/**
 * A user may take their time at the vendor: logging in, waiting for an administrator's approval.
 */
const REMEMBERED_SECONDS = 3_600;

type NarrowDeps = Pick<HostedDeps, "records" | "now" | "settings">;

/**
 * @param codeChallenge PKCE #1, by which `/token` finds it
 * @param scope what the vendor is asked for
 * @throws OAuthError temporarily_unavailable where the records are out of reach
 */
export async function recordNarrowRequest(
  codeChallenge: string,
  scope: readonly string[],
  { records, now, settings }: NarrowDeps,
): Promise<void> {
  if (isSubset(settings.vendor.scopes, scope)) return;
  // A request that is sent twice is the same request: the first record stands.
  await records.create({
    key: keyOf(codeChallenge),
    stage: "asked",
    data: { v: 1, scope: scope.join(" ") },
    expiresAt: now() + REMEMBERED_SECONDS,
  });
}

/**
 * @returns what the flow of this challenge asked the vendor for: `VENDOR_SCOPES` unless it was
 *   noted to be less
 */
export async function requestedScope(
  codeChallenge: string,
  { records, settings }: Pick<NarrowDeps, "records" | "settings">,
): Promise<readonly string[]> {
  const narrow = (await records.get(keyOf(codeChallenge)))?.data["scope"];
  return typeof narrow === "string" ? parseScope(narrow) : settings.vendor.scopes;
}

function keyOf(codeChallenge: string): RecordKey {
  return { kind: "narrow-request", id: hashOf(codeChallenge) };
}
