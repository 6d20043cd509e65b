/**
 * One measurement: a number of flows, or refreshes, over 32 connections against one subject, and
 * the processor time its process used for them.
 */
import { type Connection, openConnection } from "../../connection.ts";
import { measureCpu, type Measurement } from "../../machine.ts";
import { type Actor, createActor, type Tokens } from "../../broker-client.ts";
import type { ServerProcess } from "../../server-process.ts";
import type { Parties } from "../../services.ts";

export const CONNECTIONS = 32;
export type Work = "flow" | "refresh";

/** @param count of flows or refreshes; one more flow per connection opens it and is not counted */
export async function measure(
  server: ServerProcess,
  parties: Parties,
  { work, count }: { readonly work: Work; readonly count: number },
): Promise<Measurement> {
  const actor = createActor(server.url, parties);
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(server.url));
  try {
    const granted = await Promise.all(connections.map((connection) => actor.flow(connection)));
    return await measureCpu([server.pid], count, () => repeat(count, actor, work, connections, granted));
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
