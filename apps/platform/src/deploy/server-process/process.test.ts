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
