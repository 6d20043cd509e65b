/**
 * A process of the store's bench that answers calls of the process that started it. The engines
 * have their own, so that their processor time is not added to the client's; the client has its
 * own, so that nothing else of the bench is in its figures.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** The calls of a worker: arguments and answers travel as JSON. */
export type Calls = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface Worker<Asked extends Calls> {
  readonly pid: number;
  /** @throws Error with what the worker threw, or with its exit when it has ended */
  call<Name extends keyof Asked & string>(
    name: Name,
    ...args: Parameters<Asked[Name]>
  ): Promise<Awaited<ReturnType<Asked[Name]>>>;
  stop(): Promise<void>;
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const STOP_MS = 10_000;

/**
 * @param file its path
 * @param options.env in addition to PATH; nothing else is inherited, so that no setting of the
 *   machine reaches the SDK
 */
export function startWorker<Asked extends Calls>(
  file: string,
  {
    flags = [],
    env = {},
  }: { readonly flags?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Worker<Asked> {
  const child = fork(file, {
    execArgv: [...flags],
    env: { PATH: process.env["PATH"], ...env },
    serialization: "json",
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const waiting = new Map<number, Waiting>();
  child.on("message", ({ id, value, error }: Answer) => {
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error === undefined) resolve?.(value);
    else reject?.(new Error(error));
  });
  const ended = once(child, "exit").then(([code, signal]) => {
    process.off("exit", kill);
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${String(code ?? signal)}`));
  });
  let count = 0;
  return {
    pid: child.pid ?? 0,
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        const id = (count += 1);
        waiting.set(id, { resolve, reject });
        child.send({ id, name, args } satisfies Question, (error) => {
          if (error !== null) reject(error);
        });
      }),
    stop: () => stop(child, ended),
  };
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended.finally(() => clearTimeout(timer));
}

/**
 * The worker's side.
 * @param close runs once no more calls can come; then the process ends
 */
export function answerCalls(calls: Calls, close: () => Promise<void>): void {
  process.on("message", ({ id, name, args }: Question) => {
    const answer = async (): Promise<Answer> => {
      const call = calls[name];
      if (call === undefined) throw new Error(`no call ${name}`);
      return { id, value: await call(...(args as never[])) };
    };
    void answer()
      .catch((error: unknown) => ({ id, error: error instanceof Error ? withCauses(error) : String(error) }))
      .then((answer) => process.send?.(answer));
  });
  process.once("disconnect", () => void close().finally(() => process.exit()));
}

function withCauses(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\n${withCauses(error.cause)}` : stack;
}
