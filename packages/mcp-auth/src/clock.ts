/** The only code of this package that reads the time. */
import type { Clock } from "@oauth-broker/oauth-core";

export const systemClock: Clock = Object.assign(() => Math.floor(Date.now() / 1000), {
  milliseconds: () => Date.now(),
});
