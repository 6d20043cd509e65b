/**
 * Limits the concurrent calls to a remote engine and their duration: a hundred at once, a thousand
 * waiting, and none beyond its deadline, for anything it waits for. So an engine that hangs costs
 * its callers seconds and this process little memory. Sits between the calls of a store and the
 * engine's client.
 */
import { MOST_SOCKETS } from "../../aws-requests.ts";

/** As many as the client has sockets: a request that waited for one would use up its timeout. */
const AT_ONCE = MOST_SOCKETS;
const MOST_WAITING = 1000;

export type BoundedCalls = ReturnType<typeof createBoundedCalls>;

interface Call {
  start(): void;
  refuse(why: Error): void;
}

/** @param deps.refusal the error for a call that got no response */
export function createBoundedCalls(deadlineMs: number, { refusal }: { readonly refusal: (why: Error) => Error }) {
  const running = new Set<Call>();
  const waiting = new Set<Call>();
  let closed = false;

  const leave = (call: Call): void => {
    waiting.delete(call);
    if (!running.delete(call)) return;
    for (const next of waiting) {
      waiting.delete(next);
      next.start();
      return;
    }
  };

  return {
    /**
     * @param work must stop when the signal fires
     * @throws `refusal` beyond the limits, past the deadline and after `close`; else what `work`
     *   throws
     */
    run: async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      if (closed) throw refusal(new Error("the store was closed"));
      if (waiting.size >= MOST_WAITING) throw refusal(new Error(`${MOST_WAITING} calls are waiting already`));
      return new Promise((resolve, reject) => {
        const abort = new AbortController();
        const end = (): void => {
          clearTimeout(timer);
          leave(call);
        };
        const call: Call = {
          start: () => {
            running.add(call);
            work(abort.signal).then(resolve, reject).finally(end);
          },
          refuse: (why) => {
            reject(refusal(why));
            abort.abort();
            end();
          },
        };
        const timer = setTimeout(() => call.refuse(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
        if (running.size < AT_ONCE) call.start();
        else waiting.add(call);
      });
    },
    /** Refuses calls under way and every later one. */
    close: (): void => {
      closed = true;
      const why = new Error("the store was closed");
      // Waiting calls first, or they would be started instead of the others.
      for (const call of [...waiting, ...running]) call.refuse(why);
    },
  };
}
