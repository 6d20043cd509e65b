import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "make-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("makeFolder", () => {
  it("makes what is missing with the mode, and leaves what exists as it is", () => {
    mkdirSync(join(folder, "a"), { mode: 0o755 });
    makeFolder(join(folder, "a", "b", "c"), { mode: 0o700 });
    makeFolder(join(folder, "a", "b", "c"), { mode: 0o700 });
    makeFolder(folder);
    makeFolder("/");
    if (process.platform === "win32") return;
    const modes = ["a", "a/b", "a/b/c"].map((path) => statSync(join(folder, path)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o700, 0o700]);
  });

  it("goes through a link to a folder", () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"), "junction");
    makeFolder(join(folder, "link", "a"));
    makeFolder(join(folder, "link"));
    expect(readdirSync(join(folder, "real"))).toEqual(["a"]);
  });

  it("throws the file system's error", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => makeFolder(join(folder, "file"))).toThrow(/^EEXIST/);
    expect(() => makeFolder(join(folder, "file", "a", "b"))).toThrow(/^ENOTDIR|^ENOENT/);
    symlinkSync(join(folder, "nowhere"), join(folder, "link"), "junction");
    expect(() => makeFolder(join(folder, "link", "a"))).toThrow(/^EEXIST/);
  });

  it("throws where Node's own would never return", () => {
    if (process.platform !== "linux") return;
    expect(() => makeFolder("/proc/nope")).toThrow(/^ENOENT/);
    expect(() => makeFolder("/proc/nope/a/b", { mode: 0o700 })).toThrow(/^ENOENT/);
  });

  it("makes folders that other processes make at once", async () => {
    const deep = Array.from({ length: 40 }, (_, i) => String(i));
    const program = `import { makeFolder } from ${JSON.stringify(new URL("make-folder.ts", import.meta.url).href)};
for (let round = 0; round < 25; round += 1) makeFolder(process.argv[1] + "/" + round + "/${deep.join("/")}");`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, folder]);
    await Promise.all([run(), run()]);
    expect(readdirSync(folder)).toHaveLength(25);
  });
});
