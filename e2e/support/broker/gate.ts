/**
 * A gate in front of a server: while it is closed, connections are refused, as by a machine that is
 * down.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export type Gate = ReturnType<typeof createGate>;
/**
 * Starts closed.
 * @param port that it listens on once open
 * @param to the port behind it
 */
export function createGate(port: number, to: number) {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Ends the open connections too. */
    async shut() {
      for (const socket of sockets) socket.destroy();
      if (server === undefined) return;
      const closed = once(server, "close");
      server.close();
      server = undefined;
      await closed;
    },
    async open() {
      server = createServer((inside) => {
        const outside = connect(to, "127.0.0.1");
        for (const socket of [inside, outside]) {
          sockets.add(socket);
          socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
        }
        inside.pipe(outside).pipe(inside);
      });
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
  };
}
