/**
 * The calls of tools that run in this process, each with a separate signal. It fires when the
 * client disconnects, when it cancels, and when the process ends before the call: never after the
 * call has ended. A client of 2025-11-25 cancels in a separate request, which names the call by
 * its id alone; the access token and `Mcp-Session-Id` say whose it is. Used by ../run-tool.ts
 * and ../endpoint.ts.
 */

export interface RunningCall {
  /** Who sent it: `callOrigin`. */
  readonly from: string;
  /** The id of the JSON-RPC request. */
  readonly id: string | number;
  /** Fires when the client disconnects, and after every call. */
  readonly request: AbortSignal;
}

export interface RunningCalls {
  run<T>(call: RunningCall, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Ends the call of this id; none if two could be meant. */
  cancel(from: string, id: string | number): void;
  /**
   * The process ends: the signals of all calls fire.
   *
   * @returns when every call has ended, which one that ignores its signal never does
   */
  cut(): Promise<void>;
}

/** Why a signal fired, for a tool that asks: an AbortError, as of `fetch`. */
function abortReason(why: string): DOMException {
  return new DOMException(`The call was cancelled: ${why}`, "AbortError");
}

export function createRunningCalls(): RunningCalls {
  const running = new Map<string, Set<AbortController>>();
  const works = new Set<Promise<unknown>>();
  return {
    run: async ({ from, id, request }, work) => {
      const key = keyOf(from, id);
      const controller = new AbortController();
      const disconnected = (): void => controller.abort(abortReason("the client has left"));
      if (request.aborted) disconnected();
      request.addEventListener("abort", disconnected);
      const same = running.get(key) ?? new Set();
      running.set(key, same.add(controller));
      const working = work(controller.signal);
      const settled = working.catch(() => undefined);
      works.add(settled);
      try {
        return await working;
      } finally {
        // After this line no one holds the controller: a call that ended is not cancelled.
        request.removeEventListener("abort", disconnected);
        same.delete(controller);
        if (same.size === 0) running.delete(key);
        works.delete(settled);
      }
    },
    cancel: (from, id) => {
      const [only, ...others] = running.get(keyOf(from, id)) ?? [];
      if (others.length === 0) only?.abort(abortReason("by the client"));
    },
    cut: async () => {
      for (const controllers of running.values())
        for (const controller of controllers) controller.abort(abortReason("the server ends"));
      await Promise.all(works);
    },
  };
}

/** `1` and `"1"` are two ids. */
function keyOf(from: string, id: string | number): string {
  return JSON.stringify([from, id]);
}
