/** The twins of strip-file.test.ts: with one defence off, tokens are left in the files. */
import { expect, it, vi } from "vitest";
import { fixtureOn, filesAfterDeletion, stripFile } from "../testing/strip-file.ts";

const file = stripFile();

it.each([
  ["the file is not written anew", { rewriteFile: () => undefined }, ["tokens.sqlite"]],
  ["the log is not emptied", { emptyLog: () => true }, ["tokens.sqlite", "tokens.sqlite-wal"]],
])("tokens are left where %s (twin of bar#TS-10)", async (_what, off, left) => {
  vi.doMock("../storage/sqlite/file.ts", async (original) => ({ ...(await original<object>()), ...off }));
  const fixture = await fixtureOn(file);
  vi.doUnmock("../storage/sqlite/file.ts");
  expect(await fixture.strip()).toMatchObject({ ending: "done" });
  expect(file.withTokens()).toEqual(left);
});
it("stays readable in the file where it is not (twin of bar#TS-10)", async () => {
  vi.doMock("../storage/sqlite/file.ts", async (original) => {
    const module = await original<typeof import("../storage/sqlite/file.ts")>();
    const openDatabase: typeof module.openDatabase = (path, durability) => {
      const db = module.openDatabase(path, durability);
      db.exec("pragma secure_delete = off");
      return db;
    };
    return { ...module, openDatabase };
  });
  const left = filesAfterDeletion(file);
  await expect(left).resolves.toEqual(["tokens.sqlite"]);
  vi.doUnmock("../storage/sqlite/file.ts");
});
