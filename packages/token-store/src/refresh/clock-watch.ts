/**
 * Notices clocks that are further apart than the lease allows for, from what other processes wrote: tokens of the future,
 * a lease longer than a lease can be. Either clock may be the wrong one; somebody has to look.
 */
import type { Clock } from "@oauth-broker/oauth-core";
import type { RefreshEvent } from "./context.ts";
import type { RefreshTimes } from "./times.ts";
import type { CurrentRecord } from "../tokens/token-records.ts";

const QUIET_SECONDS = 60;

/** @returns to be called with every record read; reports once a minute */
//= bar#8.4
export function createClockWatch({
  now,
  times: { skewSeconds, leaseSeconds },
  onEvent,
}: {
  readonly now: Clock;
  readonly times: Pick<RefreshTimes, "skewSeconds" | "leaseSeconds">;
  readonly onEvent: (event: RefreshEvent) => void;
}): (current: CurrentRecord) => void {
  let quietUntil = 0;
  return ({ key, stored, lease }) => {
    const at = now();
    const ahead = Math.max(stored.writtenAt - at, (lease?.until ?? 0) - leaseSeconds - at);
    // A clock that was put back must not keep this quiet for as long.
    const isQuiet = at < quietUntil && quietUntil <= at + QUIET_SECONDS;
    if (ahead <= skewSeconds || isQuiet) return;
    quietUntil = at + QUIET_SECONDS;
    onEvent({ name: "clock_skew", vendor: key.vendor });
  };
}
