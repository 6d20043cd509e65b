/** The system clock: the default when a caller gives none. */
import type { EpochSeconds } from "./ports.ts";

export function systemClock(): EpochSeconds {
  return Math.floor(Date.now() / 1000);
}
