import { spawnSync } from "node:child_process";
import { openSync, type write } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { bufferedStdout } from "./stdout.ts";

/** A stdout whose disk has no room, until `room` is called. */
function fullDisk(code: string) {
  let written = "";
  let isFull = true;
  const full = Object.assign(new Error(code), { code });
  const fs = {
    write: ((_fd: number, bytes: Buffer, done: (error: Error | null, length: number) => void) => {
      if (!isFull) written += bytes.toString("utf8", 0, 3);
      setImmediate(() => (isFull ? done(full, 0) : done(null, Math.min(3, bytes.length))));
    }) as typeof write,
    writeSync: (_fd: number, bytes: Uint8Array) => {
      if (isFull) throw full;
      written += Buffer.from(bytes).toString();
      return bytes.length;
    },
  };
  const before = process.listeners("exit");
  const stdout = bufferedStdout(fs as Parameters<typeof bufferedStdout>[0]);
  const [added] = process.listeners("exit").filter((listener) => !before.includes(listener));
  onTestFinished(() => void (added && process.off("exit", added)));
  return { stdout, written: () => written, room: () => void (isFull = false) };
}

it.each([
  ["a disk is full", "ENOSPC", "one\ntwo\nthree\n"],
  ["the reader is gone", "EPIPE", ""],
])("goes on where %s", async (_, code, kept) => {
  const { stdout, written, room } = fullDisk(code);
  stdout.write("one\n");
  stdout.flush();
  stdout.flushSync();
  await new Promise((resolve) => setImmediate(resolve));
  stdout.write("two\n");
  stdout.flushSync();
  room();
  stdout.flush();
  stdout.write("three\n");
  await expect.poll(() => (stdout.flush(), written())).toBe(kept);
});

it("lets a service go on, and end, whose stdout and stderr cannot be written", () => {
  const module = (name: string): string => JSON.stringify(import.meta.resolve(name));
  const script = `const { createLog } = await import(${module("./log.ts")});
    const { runService } = await import(${module("./run-service.ts")});
    const log = createLog();
    await runService(async () => ({ stop: async () => undefined }), log);
    log.info("listening");
    log.flush();
    process.stderr.write("a warning");
    setTimeout(() => process.exit(7), 50);`;
  const unwritable = openSync(fileURLToPath(import.meta.url), "r");
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", unwritable, unwritable],
    timeout: 20_000,
  });
  expect(status).toBe(7);
});
