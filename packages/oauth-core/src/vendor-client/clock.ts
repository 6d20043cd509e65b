/**
 * oauth4webapi reads the system clock; its `clockSkew` shifts that reading. This makes it read
 * ours, so that one clock decides everywhere and tests can hold it still.
 */
import type { Clock } from "../ports.ts";

/**
 * @returns seconds to add to the system's clock to get `now()`; zero or nearly so outside of tests
 */
export function clockSkewSeconds(now: Clock): number {
  return now() - Math.floor(Date.now() / 1000);
}
