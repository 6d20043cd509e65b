/** The machine's clock: the default where a caller brings none. */
import type { EpochSeconds } from "@oauth-broker/oauth-core";

export function systemClock(): EpochSeconds {
  return Math.floor(Date.now() / 1000);
}
