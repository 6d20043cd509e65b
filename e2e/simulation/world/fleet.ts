/**
 * Processes of one deployment, with any program. One can crash at any await: what it still waits
 * for never comes, and a new process takes its place.
 */
import type { Clock, RecordStore, Timer } from "@oauth-broker/oauth-core";
import { type Answer, readAnswer } from "./answer.ts";
import type { Scheduler } from "./scheduler.ts";

const START_SECONDS = 1_700_000_000;

/** One process, from its start to its crash. */
export interface Life {
  isOver: boolean;
  /** Absent: it has not stood still yet. */
  awake?: Promise<void>;
}

/** What runs in a process. It is closed when the run is over, crashed or not. */
export interface Program {
  readonly app: { fetch(request: Request): Response | Promise<Response> };
  close(): Promise<void>;
}

interface FleetParts<P> {
  /** What each process is called: `broker`. */
  readonly name: string;
  readonly count: number;
  readonly tell: (line: string) => void;
  start(index: number, life: Life): Promise<P>;
}

interface Process<P> {
  readonly program: P;
  readonly crashed: PromiseWithResolvers<never>;
  readonly life: Life;
}

export type Fleet<P extends Program> = Awaited<ReturnType<typeof startFleet<P>>>;
export async function startFleet<P extends Program>({ name, count, tell, start }: FleetParts<P>) {
  const started: P[] = [];
  const startOne = async (index: number): Promise<Process<P>> => {
    const life: Life = { isOver: false };
    const crashed = Promise.withResolvers<never>();
    crashed.promise.catch(() => undefined);
    const program = await start(index, life);
    started.push(program);
    return { program, crashed, life };
  };
  const running = await Promise.all(Array.from({ length: count }, (_, index) => startOne(index)));
  const at = (index: number): Process<P> => {
    const one = running[index];
    if (one === undefined) throw new RangeError(`there is no ${name} ${index}`);
    return one;
  };
  return {
    count,
    /** @throws when the process crashes before it has answered */
    fetch: async (index: number, request: Request): Promise<Answer> => {
      const { program, crashed } = at(index);
      // Read whole: a crash in the middle of a stream ends it, too.
      const read = async (): Promise<Answer> => readAnswer(await program.app.fetch(request));
      return Promise.race([read(), crashed.promise]);
    },
    crash: async (index: number) => {
      const { life, crashed } = at(index);
      tell(`${name} ${index + 1} crashes, and another one takes its place`);
      life.isOver = true;
      crashed.reject(new Error("the connection broke"));
      running[index] = await startOne(index);
    },
    programs: (): readonly P[] => running.map(({ program }) => program),
    close: async () => {
      await Promise.all(started.map((program) => program.close()));
    },
  };
}

/** The clock of a process, with its milliseconds. */
export function clockOf({ nowMs }: Scheduler, aheadSeconds = 0): Clock & { milliseconds(): number } {
  const milliseconds = (): number => (START_SECONDS + aheadSeconds) * 1000 + nowMs();
  return Object.assign(() => Math.floor(milliseconds() / 1000), { milliseconds });
}

/** What is answered after the crash never arrives. */
function whileAlive<T>(life: Life, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const arrive = async (pass: () => void): Promise<void> => {
      if (life.awake !== undefined) await life.awake;
      if (!life.isOver) pass();
    };
    void answer.then(
      (result) => arrive(() => resolve(result)),
      (error: Error) => arrive(() => reject(error)),
    );
  });
}

/** A port of a process: what it is answered after the crash never arrives. It may be closed at any time. */
export function portIn<Port extends object>(life: Life, port: Port): Port {
  const members = Object.entries(port).map(([name, member]: [string, unknown]) => {
    if (typeof member !== "function" || name === "close") return [name, member] as const;
    const call = member as (...given: unknown[]) => Promise<unknown>;
    return [name, (...given: unknown[]) => whileAlive(life, call(...given))] as const;
  });
  return Object.fromEntries(members) as Port;
}

/** @param standStill is called when a lease has been taken, before the process has the answer */
export function storeOf(life: Life, store: RecordStore, standStill: () => void = () => undefined): RecordStore {
  const create: RecordStore["create"] = async (record) => {
    const outcome = await store.create(record);
    if (record.key.kind === "refresh") standStill();
    return outcome;
  };
  return portIn(life, { ...store, create });
}

/** As at every start of a service: tried again each second until it comes about. */
export async function startUp(life: Life, timer: Timer, once: () => Promise<boolean>): Promise<void> {
  while (!life.isOver && !(await once())) await timer.sleep(1_000);
}

export function timerOf(life: Life, timer: Timer): Timer {
  return {
    ...timer,
    sleep: (ms) => whileAlive(life, timer.sleep(ms)),
    after: (ms, act) => timer.after(ms, () => (life.isOver ? undefined : act())),
  };
}
