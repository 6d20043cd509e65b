/**
 * No byte of a token is left in the files of a SQLite store after `strip`. With a defence off:
 * strip-file.twin.test.ts.
 */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { keyOf } from "../testing/cli-fixture.ts";
import { fixtureOn, filesAfterDeletion, stripFile } from "../testing/strip-file.ts";

const file = stripFile();

describe("strip of a SQLite file", () => {
  it("bar#TS-10 leaves no byte of a token in the file, its log or its index (#11)", async () => {
    const fixture = await fixtureOn(file);
    expect(await fixture.strip()).toMatchObject({ ending: "done", counts: { stripped: 30 } });
    expect(existsSync(`${file.path}-wal`)).toBe(true);
    expect(file.withTokens()).toEqual([]);
    const read = await fixture.records("encrypted").read(keyOf("u7"));
    expect(read?.stored.tokens.refreshToken?.reveal()).toBe("plain-rt");
  });

  it("bar#TS-10 says so if another process reads the log; then it is run again", async () => {
    const fixture = await fixtureOn(file);
    const shell = new DatabaseSync(file.path);
    onTestFinished(() => shell.close());
    shell.exec("begin");
    shell.prepare("select count(*) from token_rows").get();
    expect(await fixture.strip()).toMatchObject({
      ending: "plaintext_left",
      next: [expect.stringContaining("End it, then run strip again")],
    });
    expect(file.withTokens()).toContain("tokens.sqlite-wal");
    shell.exec("rollback");
    expect(await fixture.strip()).toMatchObject({ ending: "done", counts: {} });
    expect(file.withTokens()).toEqual([]);
  });
});

it("bar#TS-10 a row that is replaced or deleted is zeroed in the file", async () => {
  expect(await filesAfterDeletion(file)).toEqual([]);
});
