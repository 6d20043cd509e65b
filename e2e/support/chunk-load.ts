/** Bodies in chunks, on many sockets at once, and what they cost the process that receives them. */
import { readFileSync } from "node:fs";
import { connect } from "node:net";

export interface ChunkLoad {
  readonly port: number;
  readonly pid: number;
  readonly sockets: number;
  /** The head of a request with `Transfer-Encoding: chunked`, with the empty line. */
  readonly head: string;
  /** What follows it; the body is not ended. */
  readonly body: string;
  /** A path that is answered in the meantime, while the sockets do anything. */
  readonly probe: string;
  /** Waits for the other side to end the sockets, and not only for all to be sent. */
  readonly untilEnded: boolean;
}

/** The same bytes in one chunk. */
export const inOneChunk = (bytes: number): string => `${bytes.toString(16)}\r\n${"a".repeat(bytes)}\r\n`;
export const byteByByte = (bytes: number): string => "1\r\na\r\n".repeat(bytes);

/**
 * Probes until all has been sent, or ended by the other side.
 * @returns resident memory at its highest since the process began, and how many of the sockets the other side ended
 */
export async function sendChunks({ port, pid, sockets, head, body, probe, untilEnded }: ChunkLoad) {
  let ended = 0;
  const load = Array.from({ length: sockets }, () => {
    const socket = connect(port, "127.0.0.1").resume();
    const sent = new Promise<void>((resolve) => {
      socket.on("close", () => {
        ended += 1;
        resolve();
      });
      socket.on("error", () => undefined);
      socket.write(head + body, () => (untilEnded ? undefined : resolve()));
    });
    return { socket, sent };
  });
  let isSent = false;
  const allSent = Promise.all(load.map(({ sent }) => sent)).then(() => {
    isSent = true;
  });
  // Once more after the last byte: what was sent is handled before that.
  for (let rounds = 0; rounds < 2; rounds += isSent ? 1 : 0) {
    const answer = await fetch(`http://127.0.0.1:${port}${probe}`);
    await answer.arrayBuffer();
  }
  await allSent;
  const peakBytes = peakOf(pid);
  for (const { socket } of load) socket.destroy();
  return { peakBytes, ended };
}

/** @returns 0 on systems that do not say it */
export function peakOf(pid: number): number {
  try {
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
