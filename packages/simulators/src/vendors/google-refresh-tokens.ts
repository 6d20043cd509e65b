/**
 * How long a Google refresh token lasts: it is not replaced, but ends unused after six months,
 * after seven days while the app is in testing, or as the oldest of more than a hundred.
 *
 * Seen 2026-11: six months, seven days.
 * Recalled: the hundred per account and app.
 */
import type { Grant } from "./base/tokens.ts";
import type { GoogleHost, GoogleSettings } from "./google-settings.ts";

export const TESTING_SECONDS = 7 * 24 * 3600;
export const UNUSED_SECONDS = 183 * 24 * 3600;
const MOST_LIVE = 100;

export interface GoogleRefreshTokens {
  issue(grant: Grant): string;
  /** @returns the grant of a token of this app that still works, and notes the use */
  use(token: string | undefined, clientId: string): Grant | undefined;
}

export function createGoogleRefreshTokens(
  { tokens, now }: Pick<GoogleHost, "tokens" | "now">,
  settings: GoogleSettings,
): GoogleRefreshTokens {
  const usedAt = new Map<string, number>();
  return {
    issue(grant) {
      const lifetimeSeconds = settings.publishing === "testing" ? TESTING_SECONDS : undefined;
      const token = tokens.issue("refresh", grant, { prefix: "1//0", lifetimeSeconds });
      usedAt.set(token, now());
      const siblings = tokens.live().filter(({ kind, grant: other }) => {
        return kind === "refresh" && other.user === grant.user && other.clientId === grant.clientId;
      });
      for (const oldest of siblings.slice(0, -MOST_LIVE)) tokens.end(oldest.value, "revoked");
      return token;
    },
    use(value, clientId) {
      const token = tokens.find(value);
      if (token?.kind !== "refresh" || token.state !== "live" || token.grant.clientId !== clientId) return undefined;
      if (now() - (usedAt.get(token.value) ?? 0) >= UNUSED_SECONDS) {
        tokens.end(token.value, "revoked");
        return undefined;
      }
      usedAt.set(token.value, now());
      return token.grant;
    },
  };
}
