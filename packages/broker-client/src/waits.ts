/**
 * How long vendors must be left alone (`reason: "vendor"`). It is said of one user's tokens, so
 * no other's wait with them: until then a refresh of these is answered here, and nothing is sent.
 */
import { base64url } from "jose";
import type { Clock, EpochSeconds } from "./ports.ts";
import type { Refreshed, RefreshRequest } from "./types.ts";

type Later = Extract<Refreshed, { readonly outcome: "retry_later" }>;

/** Beyond it the oldest is forgotten, and its refresh is sent. */
const MOST = 10_000;

/** What a refresh is of. `connection` alone may be the same for two users. */
type RefreshedGrant = Pick<RefreshRequest, "refreshToken" | "connection" | "vendor">;

/** @returns a function that refreshes, unless the vendor must be left alone */
export function createWaits(now: Clock) {
  const waiting = new Map<string, { readonly until: EpochSeconds; readonly later: Later }>();
  return async (grant: RefreshedGrant, refresh: () => Promise<Refreshed>): Promise<Refreshed> => {
    const key = await keyOf(grant);
    const known = waiting.get(key);
    const left = known === undefined ? 0 : known.until - now();
    if (known !== undefined && left > 0) return { ...known.later, retryAfterSeconds: left };
    waiting.delete(key);
    const refreshed = await refresh();
    if (refreshed.outcome !== "retry_later" || refreshed.error.details.reason !== "vendor") return refreshed;
    const [oldest = ""] = waiting.keys();
    if (waiting.size >= MOST) waiting.delete(oldest);
    waiting.set(key, { until: now() + refreshed.retryAfterSeconds, later: refreshed });
    return refreshed;
  };
}

/** A hash: no token is kept. */
async function keyOf({ refreshToken = "", connection = "", vendor = "" }: RefreshedGrant): Promise<string> {
  const grant = new TextEncoder().encode(JSON.stringify([vendor, connection, refreshToken]));
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", grant)));
}
