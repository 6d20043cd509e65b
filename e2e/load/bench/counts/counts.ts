/**
 * What one flow and one refresh do, in counts that are the same on every machine: hashes, JSON,
 * buffers, promises, bytes of log. The floor beside them takes the same wire steps without a broker.
 */
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { openConnection } from "../../connection.ts";
import { createActor, type Tokens } from "../../broker-client.ts";
import { SUBJECTS, startSubjects, type Subjects } from "../broker/subjects.ts";
import type { Work } from "../broker/measure.ts";
import type { Counts } from "./counter.ts";

type Subject = (typeof SUBJECTS)[number];

/** Per operation, rounded to whole numbers. */
export interface OperationCounts extends Counts {
  readonly logBytes: number;
}

/** By operation and subject. */
export type CountTable = Readonly<Record<Work, Readonly<Record<Subject, OperationCounts>>>>;

/** So that caches are full and lazy parts are loaded. */
const WARM_UP = 30;
/** What happens by time (a flush, a metric) is rounded away. */
const OPERATIONS = 60;
/** A buffered log has been written by then. */
const SETTLE_MS = 400;
const WORKS: readonly Work[] = ["flow", "refresh"];

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
    process.kill(subjects.servers[subject].pid, "SIGUSR2");
    const [counts] = await answer;
    return { ...counts, logBytes: bytes.get(subject) ?? 0 };
  };
  try {
    const table = { flow: {}, refresh: {} } as Record<Work, Record<Subject, OperationCounts>>;
    for (const subject of SUBJECTS) {
      for (const work of WORKS) table[work][subject] = await countWork(subjects, subject, work, read);
    }
    return table;
  } finally {
    await subjects.stop();
  }
}

async function countWork(
  { servers, parties }: Subjects,
  subject: Subject,
  work: Work,
  read: (subject: Subject) => Promise<OperationCounts>,
): Promise<OperationCounts> {
  const { url } = servers[subject];
  const actor = createActor(url, parties);
  const connection = openConnection(url);
  try {
    const granted = await actor.flow(connection);
    const operation = (): Promise<Tokens> =>
      work === "flow" ? actor.flow(connection) : actor.refresh(connection, granted);
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

/** A line per subject and operation. */
export function countLines(table: CountTable): string {
  const rows = WORKS.flatMap((work) =>
    SUBJECTS.map((subject) => {
      const { hashes, recordMacs, json, bufferFrom, promises, logBytes } = table[work][subject];
      return [`${work}, ${subject}`, hashes, recordMacs, json, bufferFrom, promises, logBytes].join(" | ");
    }),
  );
  return [
    "| per operation | hashes | record MACs | JSON | Buffer.from | promises | bytes of log |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}
