/** Each row of docs/testing.md's table: without that defence the simulator breaks that promise at that seed. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { patience, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { SELECTED } from "./selected-defences.ts";

const PAGE = join(import.meta.dirname, "../../../docs/testing.md");
const PROGRAM = join(import.meta.dirname, "without-defence.ts");
const ROW = /^\| ([^|]+) \| (\d+|[a-z]+(?:-[a-z]+)+) \| ([^|]+) \|$/gm;

const [, section = ""] = readFileSync(PAGE, "utf8").split("## What the simulator finds");
const [ofBrokers = "", ofServers = "", ofScenarios = ""] = section.split(/^### .*$/m);
const rowsIn = (text: string, world: string) =>
  [...text.matchAll(ROW)].map(([, defence = "", at = "", promise = ""]) => ({ world, defence, at, promise }));
const rowsOfBrokers = rowsIn(ofBrokers, "brokers");
const rows = [...rowsOfBrokers, ...rowsIn(ofServers, "servers"), ...rowsIn(ofScenarios, "every order")];

const EVERY = volume({ test: 16, soak: 1 });
const chosen = rows.filter((_, index) => index % EVERY === 0);

describe("the simulator finds", { timeout: patience(chosen.length * 2_000 + 10_000) }, () => {
  it("each of these defences gone, at its seed or in its scenario, by its promise", async () => {
    const given = chosen.flatMap(({ defence, at, world }) => [defence, /^\d/.test(at) ? `${at}..${at}` : at, world]);
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...given]);
    const found = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(chosen.map((row, index) => [row.defence, found[index]])).toEqual(
      chosen.map(({ defence, at, promise }) => [defence, { at, promise }]),
    );
  });

  it("each selected defence of the broker, or the page says why not", () => {
    const found = new Set(rowsOfBrokers.map(({ defence }) => defence));
    const page = ofBrokers.replaceAll(/\s+/g, " ");
    expect(found.size).toBeGreaterThanOrEqual(30);
    expect(SELECTED.filter((defence) => !found.has(defence) && !page.includes(`"${defence}"`))).toEqual([]);
  });
});
