/** At most so many per second, evenly: the table and the key service serve users meanwhile. */
import type { Sleep } from "./patience.ts";

export interface Throttle {
  /** Resolves when the next `count` may go ahead. */
  take(count?: number): Promise<void>;
}

/** @param elapsedMs a clock that only goes forward */
export function throttle(
  perSecond: number,
  { sleep, elapsedMs }: { readonly sleep: Sleep; readonly elapsedMs: () => number },
): Throttle {
  let free = 0;
  return {
    async take(count = 1) {
      const now = elapsedMs();
      const at = Math.max(now, free);
      free = at + (count * 1000) / perSecond;
      if (at > now) await sleep(at - now);
    },
  };
}
