/**
 * How long vendors want to be left alone (`reason: "vendor"`). It is said of one connection, so no
 * other waits with it: until then a refresh of that connection is answered here, and nothing is sent.
 */
import type { Clock, EpochSeconds } from "./ports.ts";
import type { Refreshed } from "./types.ts";

type Later = Extract<Refreshed, { readonly outcome: "retry_later" }>;

/** Beyond it the oldest is forgotten, and its refresh is sent. */
const MOST = 10_000;

export interface Waits {
  /** @param connection what names it and no other; absent: nothing is known of it */
  run(connection: string | undefined, refresh: () => Promise<Refreshed>): Promise<Refreshed>;
}

export function createWaits({ now }: { readonly now: Clock }): Waits {
  const waiting = new Map<string, { readonly until: EpochSeconds; readonly later: Later }>();
  return {
    run: async (connection, refresh) => {
      if (connection === undefined) return refresh();
      const known = waiting.get(connection);
      const left = known === undefined ? 0 : known.until - now();
      if (known !== undefined && left > 0) return { ...known.later, retryAfterSeconds: left };
      waiting.delete(connection);
      const refreshed = await refresh();
      if (refreshed.outcome !== "retry_later" || refreshed.error.details.reason !== "vendor") return refreshed;
      for (const [oldest] of waiting) {
        if (waiting.size < MOST) break;
        waiting.delete(oldest);
      }
      waiting.set(connection, { until: now() + refreshed.retryAfterSeconds, later: refreshed });
      return refreshed;
    },
  };
}
