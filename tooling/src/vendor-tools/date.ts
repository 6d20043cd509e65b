import type { Clock } from "@oauth-broker/oauth-core";

/** @returns YYYY-MM-DD in UTC */
export function dateOf(now: Clock): string {
  return new Date(now() * 1000).toISOString().slice(0, 10);
}
