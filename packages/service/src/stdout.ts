/**
 * stdout, for lines. They gather, so that a request does not pay for a system call. Nothing about
 * stdout stops the process: 16 MiB of lines wait for a slow reader or for room on a full disk, any
 * more are dropped, and all once the reader is gone.
 */
import { write, writeSync } from "node:fs";

const GATHERED_BYTES = 16_000;
const GATHERED_MS = 100;
const MOST_BYTES = 16 * 1024 * 1024;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Where lines go: stdout, or a fake. */
export interface LogDestination {
  write(line: string): void;
  flush?(): void;
  flushSync?(): void;
}

/**
 * A process has one: two would write into each other's lines.
 *
 * @param fs only tests pass others
 */
export function bufferedStdout(
  fs: Pick<typeof import("node:fs"), "write" | "writeSync"> = { write, writeSync },
): Required<LogDestination> {
  let lines: Buffer[] = [];
  let size = 0;
  /** What is being written, or could not be. */
  let rest: Buffer = Buffer.alloc(0);
  let isWriting = false;
  let isGone = false;

  const gathered = (): Buffer => {
    const all = Buffer.concat(lines, size);
    [lines, size] = [[], 0];
    return all;
  };
  const flush = (): void => {
    if (isWriting) return;
    if (rest.length === 0) rest = gathered();
    if (rest.length === 0 || isGone) return;
    isWriting = true;
    fs.write(1, rest, (error, written) => {
      isWriting = false;
      isGone ||= error?.code === "EPIPE";
      if (error !== null) return;
      rest = rest.subarray(written);
      if (rest.length > 0 || size >= GATHERED_BYTES) flush();
    });
  };
  const flushSync = (): void => {
    // What is being written goes on by itself.
    let left = isWriting ? gathered() : Buffer.concat([rest, gathered()]);
    while (left.length > 0 && !isGone) {
      try {
        left = left.subarray(fs.writeSync(1, left));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        isGone = code === "EPIPE";
        if (code !== "EAGAIN") break;
        // The reader is slow.
        Atomics.wait(PAUSE, 0, 0, GATHERED_MS);
      }
    }
    if (isWriting) [lines, size] = [[left], left.length];
    else rest = left;
  };
  setInterval(flush, GATHERED_MS).unref();
  process.on("exit", flushSync);
  return {
    write: (line: string): void => {
      if (isGone || size + line.length > MOST_BYTES) return;
      const bytes = Buffer.from(line);
      const before = size;
      lines.push(bytes);
      size += bytes.length;
      // Once: while a disk is full the next try is the timer's.
      if (before < GATHERED_BYTES && size >= GATHERED_BYTES) flush();
    },
    flush,
    flushSync,
  };
}
