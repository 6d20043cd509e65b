import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/service-process.ts";
import { startWorker } from "./worker.ts";

it("a worker hands back what a call threw, and refuses calls once it is gone", async () => {
  const file = join(temporaryFolder(), "worker.mjs");
  const { href } = new URL("worker.ts", import.meta.url);
  const calls = '{ double: (number) => 2 * number, fail: () => { throw new Error("is not open") } }';
  writeFileSync(file, `import { answerCalls } from "${href}";\nanswerCalls(${calls}, async () => undefined);\n`);
  const worker = startWorker<{ double: (number: number) => number; fail: () => void }>(file);
  expect(await worker.call("double", 4)).toBe(8);
  await expect(worker.call("fail")).rejects.toThrow("is not open");
  await worker.stop();
  await expect(worker.call("double", 4)).rejects.toThrow("closed");
});
