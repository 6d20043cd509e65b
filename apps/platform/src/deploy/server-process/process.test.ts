import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { isProcessAlive } from "../deploy-lease.ts";
import { startServerProcess } from "./process.ts";

const KEEPER = { file: join(import.meta.dirname, "..", "..", "main.ts") };
/** More than a pipe holds. */
const LINES = 400;
const TALKS = `console.log('{"url":"x"}'); for (let n = 1; n <= ${LINES}; n += 1) console.log("x".repeat(1024));`;

const commandOf = (code: string) => ({
  command: `node -e '${code.replaceAll("'", `'"'"'`)}'`,
  folder: temporaryFolder(),
  environment: { PATH: process.env["PATH"] ?? "" },
  logFile: join(temporaryFolder(), "server.log"),
});

/** @returns arguments with which Node.js runs a deploy in another process */
function deployOf(command: object, then: string): string[] {
  const script = `const { startServerProcess } = await import(${JSON.stringify(import.meta.resolve("./process.ts"))});
    const server = await startServerProcess(${JSON.stringify(command)}, { keeper: ${JSON.stringify(KEEPER)} });
    ${then}`;
  return ["--input-type=module", "-e", script];
}

it("a server's output is kept, however much it writes after it listens", async () => {
  const command = commandOf(TALKS);
  const server = await startServerProcess(command, { keeper: KEEPER });
  expect(await server.ended).toBe(0);
  expect(readFileSync(command.logFile, "utf8").split("\n")).toHaveLength(LINES + 2);
});

it.each(['eval "$START"', 'sh -c "$START; :"'])("a server that %s started drains when stopped", async (command) => {
  const drain = `process.on("SIGTERM", () => setTimeout(() => process.exit(console.log("drained")), 50));`;
  const { environment, ...started } = commandOf(`${drain} setInterval(() => 0, 1000); console.log('{"url":"x"}')`);
  const given = { ...started, command, environment: { ...environment, START: started.command } };
  await (await startServerProcess(given, { keeper: KEEPER })).stop();
  expect(readFileSync(given.logFile, "utf8")).toContain("drained");
});

it("a server goes on where its output does not fit on the disk", () => {
  const deploy = deployOf(commandOf(TALKS), "process.exit(await server.ended)");
  const full = ["-c", 'ulimit -f 64; exec "$0" "$@"', process.execPath, ...deploy];
  expect(spawnSync("sh", full, { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
});

it("a server ends with its deploy, even if the whole group of that is killed", async () => {
  const command = commandOf(`console.log(JSON.stringify({ url: "x", pid: process.pid })); setInterval(() => 0, 1000)`);
  const script = deployOf(command, `console.log("started")`);
  const deploy = spawn(process.execPath, script, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  await once(deploy.stdout, "data");
  await expect.poll(() => readFileSync(command.logFile, "utf8")).toMatch(/\n$/);
  const { pid } = JSON.parse(readFileSync(command.logFile, "utf8")) as { readonly pid: number };
  expect(isProcessAlive(pid)).toBe(true);
  process.kill(-(deploy.pid ?? expect.fail("it has no pid")), "SIGKILL");
  await expect.poll(() => isProcessAlive(pid)).toBe(false);
});
