/**
 * Several refreshing processes on one table, and the messages between them and a test. All are
 * ended after it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { JournalEvent } from "../../refresh/journal.ts";
import type { RefreshEvent } from "../../refresh/context.ts";
import { stopProcess } from "../processes.ts";
import type { Answers, ChildMessage, ChildOrder, Point, RefreshSettings } from "./child.ts";

export interface RefreshChild {
  /** @param options.stopAt the first caller that gets there stops */
  call(users: readonly string[], options?: { readonly callers?: number; readonly stopAt?: Point }): Promise<Answers>;
  /**
   * Answers `GET /USER` with the result of a caller.
   *
   * @returns its URL
   */
  serve(stopAt: Point): Promise<string>;
  /** Resolves when it stopped at its point. */
  readonly stopped: () => Promise<void>;
  go(): void;
  signal(signal: NodeJS.Signals): void;
  /** @returns the exit code, null after a kill */
  ended(): Promise<number | null>;
  kill(): Promise<void>;
  readonly events: readonly (RefreshEvent | JournalEvent)[];
}

const running = new Set<ChildProcess>();

/** @returns once it is ready */
export async function startRefreshChild(settings: RefreshSettings): Promise<RefreshChild> {
  const path = fileURLToPath(new URL("child.ts", import.meta.url));
  const child = fork(path, [JSON.stringify(settings)], { execArgv: [] });
  running.add(child);
  // After its last message: "exit" may come before that.
  const exit = once(child, "close").then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const events: (RefreshEvent | JournalEvent)[] = [];
  const heard = new Map<ChildMessage["what"], ChildMessage[]>();
  const waiting = new Map<ChildMessage["what"], (message: ChildMessage) => void>();
  child.on("message", (message: ChildMessage) => {
    if (message.what === "event") {
      events.push(message.event);
      return;
    }
    const waiter = waiting.get(message.what);
    waiting.delete(message.what);
    if (waiter === undefined) heard.set(message.what, [...(heard.get(message.what) ?? []), message]);
    else waiter(message);
  });
  const next = async <What extends ChildMessage["what"]>(
    what: What,
  ): Promise<Extract<ChildMessage, { what: What }>> => {
    const message =
      heard.get(what)?.shift() ??
      (await Promise.race([
        new Promise<ChildMessage>((resolve) => waiting.set(what, resolve)),
        exit.then((code) => Promise.reject(new Error(`the process ended with ${code} before "${what}"`))),
      ]));
    return message as Extract<ChildMessage, { what: What }>;
  };
  const send = (order: ChildOrder): void => void child.send(order);
  await next("ready");

  return {
    call: async (users, { callers = 1, stopAt } = {}) => {
      send({ what: "call", users, callers, ...(stopAt === undefined ? {} : { stopAt }) });
      return (await next("answers")).answers;
    },
    serve: async (stopAt) => {
      send({ what: "serve", stopAt });
      return (await next("serving")).url;
    },
    stopped: async () => void (await next("at")),
    go: () => send({ what: "go" }),
    signal: (signal) => void child.kill(signal),
    ended: () => exit,
    kill: () => stopProcess(child, "SIGKILL"),
    events,
  };
}

/** For afterEach. */
export async function killRefreshChildren(): Promise<void> {
  await Promise.all([...running].map((child) => stopProcess(child, "SIGKILL")));
}
