/** The system clock: the default when a caller gives none. */
import type { EpochSeconds } from "@oauth-broker/oauth-core";

export function systemClock(): EpochSeconds {
  return Math.floor(Date.now() / 1000);
}
