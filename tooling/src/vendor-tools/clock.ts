import type { Clock } from "@oauth-broker/oauth-core";

/** The only place of these tools that reads the wall clock. */
export const systemClock: Clock = () => Math.floor(Date.now() / 1000);

/** @returns YYYY-MM-DD in UTC */
export function dateOf(now: Clock): string {
  return new Date(now() * 1000).toISOString().slice(0, 10);
}
