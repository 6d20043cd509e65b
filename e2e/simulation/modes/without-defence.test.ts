/** Each row of docs/testing.md's table: without that defence the simulator breaks that promise at that seed. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const PAGE = join(import.meta.dirname, "../../../docs/testing.md");
const PROGRAM = join(import.meta.dirname, "without-defence.ts");
const ROW = /^\| ([^|]+) \| (\d+) \| ([^|]+) \|$/gm;

const [, section = ""] = readFileSync(PAGE, "utf8").split("## What the simulator finds");
const [ofBrokers = "", ofServers = ""] = section.split("### In deployed servers");
const rowsIn = (text: string, world: string) =>
  [...text.matchAll(ROW)].map(([, defence = "", seed = "", promise = ""]) => ({ world, defence, seed, promise }));
const rows = [...rowsIn(ofBrokers, "brokers"), ...rowsIn(ofServers, "servers")];

describe("the simulator finds", { timeout: 120_000 }, () => {
  it.each(rows)("$promise, in $world without: $defence", async ({ world, defence, seed, promise }) => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, defence, `${seed}..${seed}`, world]);
    expect(JSON.parse(stdout)).toEqual({ seed: Number(seed), promise });
  });

  it("what the table of the page has", () => {
    expect(rows.length).toBeGreaterThanOrEqual(10);
  });
});
