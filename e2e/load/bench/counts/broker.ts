/**
 * Counts of one flow and one refresh of the broker. The floor beside them takes the same wire steps
 * without a broker.
 */
import { openConnection } from "../../connection.ts";
import { createActor, type Tokens } from "../../broker-client.ts";
import { startSubjects, type Subject, type Subjects, subjectsOf } from "../broker/subjects.ts";
import { plainWorkOf, type Work, WORKS } from "../broker/works.ts";
import {
  countOperation,
  COUNTER,
  type CountTable,
  createServerCounts,
  type OperationCounts,
} from "./operation-counts.ts";

/** @throws Error when an answer is wrong */
export async function countBroker(): Promise<CountTable> {
  const { onLine, read } = createServerCounts();
  const subjects = await startSubjects({ preload: COUNTER, onLine });
  try {
    const table: Record<string, Record<string, OperationCounts>> = {};
    for (const work of WORKS) {
      const ofWork: Record<string, OperationCounts> = (table[work] = {});
      for (const subject of subjectsOf(subjects.servers, work)) {
        ofWork[subject] = await countWork(subjects, subject, work, read);
      }
    }
    return table;
  } finally {
    await subjects.stop();
  }
}

async function countWork(
  subjects: Subjects,
  subject: Subject,
  work: Work,
  read: ReturnType<typeof createServerCounts>["read"],
): Promise<OperationCounts> {
  const server = subjects.servers[subject];
  if (server === undefined) throw new Error(`${subject} is not measured`);
  const plainWork = plainWorkOf(work);
  const actor = createActor(server.url, plainWork === undefined ? subjects.parties : subjects.openidParties);
  const connection = openConnection(server.url);
  try {
    const granted = await actor.flow(connection);
    const operation = (): Promise<Tokens> =>
      (plainWork ?? work) === "flow" ? actor.flow(connection) : actor.refresh(connection, granted);
    return await countOperation(() => read(subject, server), operation);
  } finally {
    await connection.close();
  }
}
