import type { Clock } from "@oauth-broker/oauth-core";

/** The wall clock. The only code of this package that reads it. */
export const systemClock: Clock = Object.assign(() => Math.floor(Date.now() / 1000), {
  milliseconds: () => Date.now(),
});
