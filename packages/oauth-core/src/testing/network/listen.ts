/** A server of a test, on a port of loopback. */
import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

/** Closing it ends every connection, handshakes that failed among them. */
export async function listen(server: Server): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
