/**
 * A revocation wins over a refresh of the same token that is under way: what that refresh was
 * answered is revoked too, and handed to no caller.
 */
import { createSharedCalls, OAuthError } from "@oauth-broker/oauth-core";
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import type { Revoked } from "@oauth-broker/oauth-core/vendor-client";

/** What is under way of one client: nothing is kept of what has ended. */
export function createRevocations() {
  const refreshes = new Set<{ readonly token: string; isRevoked: boolean }>();
  const revoking = createSharedCalls<Revoked>();
  return {
    run: async (token: string, call: () => Promise<Revoked>): Promise<Revoked> =>
      revoking.run(token, async () => {
        const revoked = await call();
        for (const one of refreshes) one.isRevoked ||= isSameText(one.token, token);
        return revoked;
      }),
    /** A refresh that begins, and must be ended. */
    refreshOf(token = "") {
      const mine = { token, isRevoked: false };
      refreshes.add(mine);
      return {
        end: () => refreshes.delete(mine),
        /** @throws OAuthError invalid_grant, after `discard`, when the token was revoked in the meantime */
        async requireUnrevoked(discard: () => Promise<unknown>): Promise<void> {
          await revoking.find(token)?.catch(() => undefined);
          //= bar#RV-4
          if (!mine.isRevoked) return;
          await discard().catch(() => undefined);
          throw new OAuthError("invalid_grant", "This token has been revoked: the user must authorize again");
        },
      };
    },
  };
}
