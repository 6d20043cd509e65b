import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../config.ts";
import { newChain, nextLine } from "../audit/chain.ts";
import { folderOf, load, MINIMAL, problemsOf, refusalOf } from "./testing/config-file.ts";

/** A folder with this configuration and what `prepare` puts beside it. */
function folderWith(audit: string, prepare: (folder: string) => void = () => undefined): string {
  const folder = folderOf({ "broker.yaml": JSON.stringify({ ...MINIMAL, store: "memory", audit }) });
  prepare(folder);
  return folder;
}

describe("audit", () => {
  it("is off, stdout or a file, relative to the configuration", () => {
    expect(load(MINIMAL).audit).toEqual({ kind: "off" });
    expect(load({ ...MINIMAL, audit: "off" }).audit).toEqual({ kind: "off" });
    expect(load({ ...MINIMAL, audit: "stdout" }).audit).toEqual({ kind: "stdout" });
    const folder = folderWith("file:./audit.jsonl");
    expect(loadConfig({}, folder).audit).toEqual({ kind: "file", path: join(folder, "audit.jsonl") });
    expect(readdirSync(folder)).toEqual(["broker.yaml"]);
  });

  it("off without quotes is a text in YAML 1.2", () => {
    expect(load(`${JSON.stringify(MINIMAL).slice(0, -1)}, audit: off }`).audit).toEqual({ kind: "off" });
  });

  it.each(["on", "file:", "stderr", "file", "STDOUT", "syslog:x"])("refuses %j", (audit) => {
    expect(problemsOf({ audit })).toEqual(["audit must be off, stdout or file:PATH"]);
  });

  const PLACES: [string, (folder: string) => void, string][] = [
    ["file:./missing/audit.jsonl", () => undefined, "names a file in a folder that does not exist"],
    ["file:./audit.jsonl", (folder) => mkdirSync(join(folder, "audit.jsonl")), "names something that is no file"],
    ["file:./broker.yaml", () => undefined, "names a file with other content"],
    ["file:./broker.yaml/audit.jsonl", () => undefined, "names a file that cannot be written (EACCES)"],
  ];
  it.each(PLACES)("refuses %s where it cannot be written", (audit, prepare, problem) => {
    const { problems } = refusalOf(() => loadConfig({}, folderWith(audit, prepare)));
    expect(problems).toMatchObject([{ path: "audit", problem }]);
  });

  it("is reported together with all other problems", () => {
    expect(problemsOf({ audit: "file:./missing/a", cell: "NO", limits: { body_bytes: 0 } })).toHaveLength(3);
  });

  it("goes on in a file of the stream, also one that is empty or cut short", () => {
    const { line } = nextLine('"n":1', newChain());
    for (const content of ["", `${line}\n`, line.slice(0, 10)]) {
      const folder = folderWith("file:./audit.jsonl", (at) => writeFileSync(join(at, "audit.jsonl"), content));
      expect(loadConfig({}, folder).audit).toMatchObject({ kind: "file" });
    }
  });

  it("that others may change is a warning; that they may read it is not", () => {
    const folder = folderWith("file:./audit.jsonl", (at) => writeFileSync(join(at, "audit.jsonl"), ""));
    const path = join(folder, "audit.jsonl");
    const warningsAt = (mode: number): readonly string[] => {
      chmodSync(path, mode);
      return loadConfig({}, folder).warnings.filter((warning) => warning.includes("audit"));
    };
    const warning = `The audit stream in ${path} can be changed by others on this machine: chmod go-w`;
    expect([0o600, 0o644, 0o660, 0o602].map(warningsAt)).toEqual([[], [], [warning], [warning]]);
  });
});
