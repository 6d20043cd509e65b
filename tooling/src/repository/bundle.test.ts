import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown, type OutputOptions, type RolldownOptions } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import config from "../../../apps/broker/rolldown.config.mjs";
import { readSyntax } from "../syntax.ts";

const SERVICE = `
import { DatabaseSync } from "node:sqlite";
import path, { join } from "node:path";
import * as crypto from "node:crypto";
const version = new DatabaseSync(":memory:").prepare("select 1 as one").get();
process.stdout.write(JSON.stringify([version, path.join === join, typeof crypto.createHash]) + "\\n");
try {
  await import("@oauth-broker/simulators");
} catch (error) {
  process.stdout.write(error.code + "\\n");
}
`;

describe("a bundle made with the broker's configuration", () => {
  const folder = mkdtempSync(join(tmpdir(), "bundle-"));
  const file = join(folder, "main.js");
  const run = (...args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [...args, file], { encoding: "utf8", cwd: folder });

  beforeAll(async () => {
    writeFileSync(join(folder, "main.ts"), SERVICE);
    const { output, ...input } = config as Omit<RolldownOptions, "output"> & { output: OutputOptions };
    const bundle = await rolldown({ ...input, input: join(folder, "main.ts"), cwd: folder });
    await bundle.write({ ...output, file });
    await bundle.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("runs alone, built-ins included, and leaves the sandbox outside", () => {
    const { status, stdout, stderr } = run();
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual(['[{"one":1},true,"function"]', "ERR_MODULE_NOT_FOUND", ""]);
  });

  it("imports no built-in statically that an old Node.js could lack", () => {
    const imports = readSyntax("main.js", readFileSync(file, "utf8")).imports.filter(({ dynamic }) => !dynamic);
    expect(imports.map(({ specifier }) => specifier).filter((specifier) => specifier !== "node:module")).toEqual([]);
  });

  it.each(["18.20.8", "24.14.1"])("says in one line that Node.js %s is too old", (version) => {
    const preload = `Object.defineProperty(process.versions, "node", { value: "${version}" });`;
    const { status, stdout, stderr } = run("--import", `data:text/javascript,${encodeURIComponent(preload)}`);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: `The broker needs Node.js >= 24.15; this is ${version}.\n`,
    });
  });
});
