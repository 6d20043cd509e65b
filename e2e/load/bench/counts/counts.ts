/**
 * What one flow and one refresh do, in counts that are the same on every machine: hashes, JSON,
 * buffers, promises, bytes of log. The floor beside them takes the same wire steps without a broker.
 */
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { openConnection } from "../../connection.ts";
import { createActor, type Tokens } from "../../broker-client.ts";
import { type BySubject, startSubjects, type Subject, type Subjects, subjectsOf } from "../broker/subjects.ts";
import { plainWorkOf, type Work, WORKS } from "../broker/works.ts";
import type { ServerProcess } from "../../server-process.ts";
import type { Counts } from "./counter.ts";

/** Per operation, rounded to whole numbers. */
export interface OperationCounts extends Counts {
  readonly logBytes: number;
}

/** By operation and subject. */
export type CountTable = Readonly<Record<Work, BySubject<OperationCounts>>>;

/** So that caches are full and lazy parts are loaded. */
const WARM_UP = 30;
/** What happens by time (a flush, a metric) is rounded away. */
const OPERATIONS = 60;
/** A buffered log has been written by then. */
const SETTLE_MS = 400;

/** @throws Error when an answer is wrong */
export async function countOperations(): Promise<CountTable> {
  const lines = new EventEmitter();
  const bytes = new Map<string, number>();
  const subjects = await startSubjects({
    preload: new URL("counter.ts", import.meta.url).href,
    onLine: (subject, line) => {
      if (line.startsWith('{"counts"')) lines.emit(subject, (JSON.parse(line) as { counts: Counts }).counts);
      else bytes.set(subject, (bytes.get(subject) ?? 0) + Buffer.byteLength(line) + 1);
    },
  });
  const read = async (subject: Subject): Promise<OperationCounts> => {
    await sleep(SETTLE_MS);
    const answer = once(lines, subject) as Promise<[Counts]>;
    process.kill(serverOf(subjects, subject).pid, "SIGUSR2");
    const [counts] = await answer;
    return { ...counts, logBytes: bytes.get(subject) ?? 0 };
  };
  try {
    const table: Partial<Record<Work, Partial<Record<Subject, OperationCounts>>>> = {};
    for (const work of WORKS) {
      const ofWork = (table[work] = {} as Partial<Record<Subject, OperationCounts>>);
      for (const subject of subjectsOf(subjects.servers, work)) {
        ofWork[subject] = await countWork(subjects, subject, work, read);
      }
    }
    return table as CountTable;
  } finally {
    await subjects.stop();
  }
}

async function countWork(
  subjects: Subjects,
  subject: Subject,
  work: Work,
  read: (subject: Subject) => Promise<OperationCounts>,
): Promise<OperationCounts> {
  const { url } = serverOf(subjects, subject);
  const plainWork = plainWorkOf(work);
  const actor = createActor(url, plainWork === undefined ? subjects.parties : subjects.openidParties);
  const connection = openConnection(url);
  try {
    const granted = await actor.flow(connection);
    const operation = (): Promise<Tokens> =>
      (plainWork ?? work) === "flow" ? actor.flow(connection) : actor.refresh(connection, granted);
    for (let done = 0; done < WARM_UP; done += 1) await operation();
    const before = await read(subject);
    for (let done = 0; done < OPERATIONS; done += 1) await operation();
    const after = await read(subject);
    const names = Object.keys(after) as (keyof OperationCounts)[];
    const each = names.map((name) => [name, Math.round((after[name] - before[name]) / OPERATIONS)]);
    return Object.fromEntries(each) as OperationCounts;
  } finally {
    await connection.close();
  }
}

function serverOf({ servers }: Subjects, subject: Subject): ServerProcess {
  const server = servers[subject];
  if (server === undefined) throw new Error(`${subject} is not measured`);
  return server;
}

/** A line per subject and operation. */
export function countLines(table: CountTable): string {
  const rows = WORKS.flatMap((work) =>
    Object.entries(table[work]).map(([subject, counts]) => {
      const { hashes, recordMacs, json, bufferFrom, promises, logBytes } = counts;
      return [`${work}, ${subject}`, hashes, recordMacs, json, bufferFrom, promises, logBytes].join(" | ");
    }),
  );
  return [
    "| per operation | hashes | record MACs | JSON | Buffer.from | promises | bytes of log |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}
