/**
 * One measurement: a number of flows, or refreshes, over 32 connections against one subject, and
 * the processor time its process used for them; apart from it, that of the vendor's process.
 */
import { type Connection, openConnection } from "../../connection.ts";
import { cpuMicroseconds, measureCpu, type Measurement } from "../../machine.ts";
import { type Actor, createActor, type Tokens } from "../../broker-client.ts";
import type { ServerProcess } from "../../server-process.ts";
import type { Subjects } from "./subjects.ts";
import { plainWorkOf, type Work } from "./works.ts";

export const CONNECTIONS = 32;
export interface BrokerMeasurement extends Measurement {
  /** CPU time of the vendor's process, per operation. */
  readonly vendorMicroseconds: number;
}

/** @param count of flows or refreshes; one more flow per connection opens it and is not counted */
export async function measure(
  server: ServerProcess,
  { parties, openidParties, vendor }: Pick<Subjects, "parties" | "openidParties" | "vendor">,
  { work, count }: { readonly work: Work; readonly count: number },
): Promise<BrokerMeasurement> {
  const plainWork = plainWorkOf(work);
  const actor = createActor(server.url, plainWork === undefined ? parties : openidParties);
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(server.url));
  try {
    const granted = await Promise.all(connections.map((connection) => actor.flow(connection)));
    const atStart = cpuMicroseconds(vendor.pid);
    const kind = plainWork ?? work;
    const measured = await measureCpu([server.pid], count, () => repeat(count, actor, kind, connections, granted));
    return { ...measured, vendorMicroseconds: (cpuMicroseconds(vendor.pid) - atStart) / count };
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

/** @throws Error when an answer is wrong, or an access token was issued twice */
async function repeat(
  count: number,
  actor: Actor,
  work: Work,
  connections: readonly Connection[],
  granted: readonly Tokens[],
): Promise<void> {
  const seen = new Set<string>();
  let left = count;
  await Promise.all(
    connections.map(async (connection, at) => {
      const own = granted[at] ?? { accessToken: "" };
      while (left > 0) {
        left -= 1;
        const { accessToken } = work === "flow" ? await actor.flow(connection) : await actor.refresh(connection, own);
        seen.add(accessToken);
      }
    }),
  );
  if (seen.size !== count) throw new Error(`${count} answers held only ${seen.size} access tokens`);
}
