/** Raw bytes on a socket, for requests that no HTTP client would send. */
import { connect } from "node:net";
import { patience } from "../../packages/oauth-core/src/testing/time-limits.ts";

export interface RawOptions {
  readonly port: number;
  /** Sent at once and unchanged. */
  readonly bytes: string | Uint8Array;
  /** Sent repeatedly until the other side ends the connection. */
  readonly endless?: string;
  /**
   * Stops after the first complete head of an answer instead of waiting for the end of the
   * connection.
   */
  readonly untilAnswer?: boolean;
  /** Stops then; the answer says how far it came. */
  readonly timeoutMs?: number;
}

/** @returns a status of 0 when the connection ended without an answer; `isClosed` by the other side */
export async function exchange(options: RawOptions) {
  const { port, bytes, endless, untilAnswer = false, timeoutMs = patience(500) } = options;
  const socket = connect(port, "127.0.0.1");
  let text = "";
  let isClosed = false;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (untilAnswer && text.includes("\r\n\r\n")) end();
    });
    // A reset counts as an end: the server does not read what it has refused.
    socket.on("error", () => undefined);
    for (const event of ["close", "end"]) {
      socket.on(event, () => {
        isClosed = true;
        end();
      });
    }
    socket.write(bytes);
    if (endless !== undefined) {
      const pump = (): void => {
        while (!socket.destroyed && socket.writable && socket.write(endless));
      };
      socket.on("drain", pump);
      socket.once("connect", pump);
    }
  });
  const bytesSent = socket.bytesWritten - socket.writableLength;
  socket.destroy();
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  return { status, text, isClosed, bytesSent };
}
