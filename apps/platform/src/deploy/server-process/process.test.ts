import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { startServerProcess } from "./process.ts";

const KEEPER = { file: join(import.meta.dirname, "..", "..", "main.ts") };
/** More than a pipe holds. */
const LINES = 400;
const TALKS = `console.log('{"url":"x"}'); for (let n = 1; n <= ${LINES}; n += 1) console.log("x".repeat(1024));`;

it("a server's output is kept, however much it writes after it listens", async () => {
  const folder = temporaryFolder();
  const logFile = join(folder, "server.log");
  const command = `node -e '${TALKS.replaceAll("'", `'"'"'`)}'`;
  const environment = { PATH: process.env["PATH"] ?? "" };
  const server = await startServerProcess({ command, folder, environment, logFile }, { keeper: KEEPER });
  expect(await server.ended).toBe(0);
  expect(readFileSync(logFile, "utf8").split("\n")).toHaveLength(LINES + 2);
});

it("a server ends with its deploy, even if the whole group of that is killed", async () => {
  const folder = temporaryFolder();
  const logFile = join(folder, "server.log");
  const serves = `console.log(JSON.stringify({ url: "x", pid: process.pid })); setInterval(() => undefined, 1000)`;
  const environment = { PATH: process.env["PATH"] ?? "" };
  const server = JSON.stringify({ command: `node -e '${serves}'`, folder, environment, logFile });
  const script = `const { startServerProcess } = await import(${JSON.stringify(import.meta.resolve("./process.ts"))});
    await startServerProcess(${server}, { keeper: ${JSON.stringify(KEEPER)} });
    console.log("started");`;
  const deploy = spawn(process.execPath, ["--input-type=module", "-e", script], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(deploy.stdout, "data");
  const { pid } = JSON.parse(readFileSync(logFile, "utf8")) as { readonly pid: number };
  expect(isRunning(pid)).toBe(true);
  process.kill(-(deploy.pid ?? expect.fail("it has no pid")), "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
