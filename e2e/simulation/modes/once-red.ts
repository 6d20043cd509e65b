/**
 * Seeds of any world that once broke a promise. They run always: before every `npm run simulate`, and in `npm
 * test`. A seed gives the same run only as long as the simulator draws the same numbers, so an
 * entry goes in together with the fix, and the defence gets a row in docs/testing.md.
 */
import type { WorldName } from "./worlds.ts";

export interface OnceRed {
  readonly world: WorldName;
  readonly seed: number;
  /** As shrunk; absent: those that the seed decides. */
  readonly actors?: readonly string[];
  readonly issue: number;
}

export const ONCE_RED: readonly OnceRed[] = [];
