/** The twins of strip-file.test.ts: with one defence off, tokens are left in the files. */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as files from "../storage/sqlite/file.ts";
import { fixtureOn, filesAfterDeletion, stripFile } from "../testing/strip-file.ts";

const file = stripFile();

it.each([
  ["the file is not written anew", { rewriteFile: () => undefined }, ["tokens.sqlite"]],
  ["the log is not emptied", { emptyLog: () => true }, ["tokens.sqlite", "tokens.sqlite-wal"]],
])("tokens are left where %s (twin of bar#TS-10)", async (_what, off, left) => {
  weaken(files, () => off);
  const fixture = await fixtureOn(file);
  expect(await fixture.strip()).toMatchObject({ ending: "done" });
  expect(file.withTokens()).toEqual(left);
});
it("stays readable in the file where it is not (twin of bar#TS-10)", async () => {
  weaken(files, ({ openDatabase }) => ({
    openDatabase: (...args) => {
      const db = openDatabase(...args);
      db.exec("pragma secure_delete = off");
      return db;
    },
  }));
  expect(await filesAfterDeletion(file)).toEqual(["tokens.sqlite"]);
});
