/**
 * Plays the scenarios for the programs that the suite starts, in the process that started the suite:
 * the platform is loaded once. Before it: client.ts.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";

/** What the suite says to a client, as JSON. */
export interface Scene {
  readonly scenario: string;
  /** Where the suite's server listens. */
  readonly url: string;
  readonly context?: string | undefined;
}

/** The answer for a scenario that did not stop; any other is what stopped it. */
export const PLAYED = "played";

/** @param atOnce the suite starts its forty clients at once; so many play at a time */
export async function openPlayer(atOnce: number): Promise<{ readonly port: number; close(): void }> {
  const lanes = Array.from({ length: atOnce }, async () => undefined);
  let count = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    // A client that the suite has ended.
    socket.on("error", () => undefined);
    const lane = (count += 1) % atOnce;
    lanes[lane] = Promise.resolve(lanes[lane]).then(async () => answer(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

async function answer(socket: Socket): Promise<undefined> {
  try {
    // The socket stays open for the answer.
    const asked = await text(socket.iterator({ destroyOnReturn: false }));
    const { scenario, url, context } = JSON.parse(asked) as Scene;
    // Loaded for the client half alone.
    const { play } = await import("./play.ts");
    await play(scenario, url, context);
    socket.end(PLAYED);
  } catch (error) {
    socket.end(error instanceof Error && error.stack !== undefined ? error.stack : String(error));
  }
}
