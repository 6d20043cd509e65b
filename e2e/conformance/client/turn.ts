/**
 * The suite starts a client for each of its forty scenarios at once. On a small machine each would
 * be late, so a client waits for its turn before it loads anything, and keeps it until it ends.
 * Started by hand without a port, it does not wait.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Turns {
  readonly port: number;
  close(): Promise<void>;
}

/** @param atOnce how many clients have their turn at a time */
export async function openTurns(atOnce: number): Promise<Turns> {
  const waiting: Socket[] = [];
  const all = new Set<Socket>();
  let taken = 0;
  const next = (): void => {
    const socket = taken < atOnce ? waiting.shift() : undefined;
    if (socket === undefined) return;
    taken += 1;
    socket.once("close", () => {
      taken -= 1;
      next();
    });
    socket.write("!");
  };
  const server = createServer((socket) => {
    all.add(socket);
    waiting.push(socket);
    socket.on("error", () => undefined);
    // Nothing is sent, but a connection reports its end only while it is read.
    socket.resume();
    socket.once("close", () => {
      all.delete(socket);
      if (waiting.includes(socket)) waiting.splice(waiting.indexOf(socket), 1);
    });
    next();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of all) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The turn ends with the process. */
export async function takeTurn(port: string | undefined): Promise<void> {
  if (port === undefined) return;
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "data");
  socket.unref();
}
