/** The output of a deployed server: opened for a deploy, read from its end. */
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "@oauth-broker/oauth-core";

/** Only the end of a long file is read. */
const TAIL_BYTES = 256 * 1024;

/** The log file of the previous deploy is kept beside it. */
export async function openLog(path: string): Promise<WriteStream> {
  makeFolder(dirname(path), { mode: 0o700 });
  await rename(path, `${path}.1`).catch(() => undefined);
  const log = createWriteStream(path, { mode: 0o600 });
  await once(log, "open");
  return log;
}

/** @returns at most that many lines; an empty list without a file */
export async function lastLines(path: string, count: number): Promise<readonly string[]> {
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return [];
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer.subarray(0, bytesRead).toString("utf8").split("\n");
    if (lines.at(-1) === "") lines.pop();
    // A file read from the middle begins with a partial line.
    return (size > length ? lines.slice(1) : lines).slice(-count);
  } finally {
    await handle.close();
  }
}
