/** Rounds of upkeep in the background, for as long as the service runs. */
import type { Timer } from "@oauth-broker/oauth-core";

/** What a round does; it does not throw. */
export type Sweep = (stopping: AbortSignal) => Promise<void>;

/**
 * One round at a time, the first after a pause.
 *
 * @returns ends it, after the step under way
 */
export function startSweep(sweep: Sweep, pauseMs: number, timer: Timer): () => Promise<void> {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const sweepOften = async (): Promise<void> => {
    for (;;) {
      await timer.sleep(pauseMs, { background: true });
      if (stopping.signal.aborted) return;
      running = sweep(stopping.signal);
      await running;
    }
  };
  void sweepOften();
  return async () => {
    stopping.abort();
    await running;
  };
}
