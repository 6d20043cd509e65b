/**
 * Whether a link stays as it is when its user signs in once more. All sessions of a user share one link, and a vendor token of fewer
 * scopes would take from the others what they were granted. For link-user.ts.
 */
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import type { StoredTokens } from "@oauth-broker/token-store";

/** What a link permits, as the vendor said or as it was asked. @returns undefined where a release of before did not keep it */
export function linkScope({ tokens: { scope } }: Pick<StoredTokens, "tokens">): readonly string[] | undefined {
  return scope?.split(" ").filter((token) => token !== "");
}

/**
 * @param present the link as it is
 * @param granted what the new tokens permit
 * @param asked `VENDOR_SCOPES`: what is not asked for any more is no reason to keep a link
 * @returns whether the new tokens permit less, and nothing that the present ones do not
 */
export function outlasts(
  present: StoredTokens,
  granted: readonly string[],
  { asked, now }: { readonly asked: readonly string[]; readonly now: EpochSeconds },
): boolean {
  const scope = linkScope(present);
  if (scope === undefined || !isUsable(present, now)) return false;
  const isWithin = granted.every((token) => scope.includes(token));
  return isWithin && scope.some((token) => asked.includes(token) && !granted.includes(token));
}

function isUsable({ status, tokens: { refreshToken, expiresAt } }: StoredTokens, now: EpochSeconds): boolean {
  return status === "active" && (refreshToken !== undefined || expiresAt === undefined || expiresAt > now);
}
