import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { fileCheckpoint, type RunIdentity, type Standing } from "./checkpoint.ts";

const IDENTITY: RunIdentity = {
  command: "migrate",
  table: "tokens",
  environment: "eu-west-1",
  issuers: { a: "https://a.example", b: "https://b.example" },
};
const STANDING: Standing = {
  startedAt: 1_700_000_000,
  pass: 2,
  cursor: "abc",
  done: 300,
  total: 1000,
  again: true,
  counts: { sealed: 290 },
  left: {},
  refused: { b: "unchecked" },
};

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "run.json");
});

describe("a checkpoint file", () => {
  it("returns the last saved state, to a run with the same table and issuers", async () => {
    const checkpoint = fileCheckpoint(file, IDENTITY);
    expect(await checkpoint.load()).toBeUndefined();
    await checkpoint.save(STANDING);
    await checkpoint.save({ ...STANDING, done: 400 });
    const { b = "", a = "" } = IDENTITY.issuers;
    const same = fileCheckpoint(file, { ...IDENTITY, issuers: { b, a } });
    expect(await same.load()).toEqual({ ...STANDING, done: 400 });
    await checkpoint.remove();
    expect(await checkpoint.load()).toBeUndefined();
    await checkpoint.remove();
  });

  it("is readable by its owner only, and leaves no other file", async () => {
    await fileCheckpoint(file, IDENTITY).save(STANDING);
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["run.json"]);
  });

  it("is not used by another run", async () => {
    await fileCheckpoint(file, IDENTITY).save(STANDING);
    const [issuers, environment] = [{ a: "https://a.example" }, "eu-west-2"];
    for (const other of [{ command: "strip" }, { table: "others" }, { environment }, { issuers }]) {
      const [name = ""] = Object.keys(other);
      const load = fileCheckpoint(file, { ...IDENTITY, ...other }).load();
      await expect(load).rejects.toThrow(`is of another run (${name} differs)`);
    }
  });

  it.each(["", "{", "[]", "null", '{"format":2}', '{"format":1,"standing":{"pass":1}}'])(
    "is refused with the content %j, and left alone",
    async (content) => {
      await writeFile(file, content);
      await expect(fileCheckpoint(file, IDENTITY).load()).rejects.toThrow("is not a checkpoint of token-store");
      expect(await readFile(file, "utf8")).toBe(content);
    },
  );

  it("that cannot be written reports what to do", async () => {
    const checkpoint = fileCheckpoint(join(folder, "none", "run.json"), IDENTITY);
    await expect(checkpoint.save(STANDING)).rejects.toThrow("(ENOENT): name another file");
  });
});
