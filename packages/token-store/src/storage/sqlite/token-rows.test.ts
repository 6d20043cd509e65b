import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ofEachTest, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { sqliteRecordStore } from "./record-store.ts";
import { describeTokenRows } from "../../testing/rows/contract.ts";
import { sealedHalfOf } from "../../tokens/token-attributes.ts";
import { sqliteTokenRows } from "./token-rows.ts";

const KEY = { pk: "USER#u1", sk: "VENDOR#github" };

let folder: string;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "made", "tokens.sqlite");
});

describeTokenRows("sqlite", () => sqliteTokenRows({ path }));

describe("token rows in a SQLite file", () => {
  const rows = ofEachTest(() => sqliteTokenRows({ path }));

  it("share it with records, whose format stays, so that the release before opens it too", async () => {
    const now = (): number => 1_700_000_000;
    const record = { key: { kind: "flow", id: "f1" }, stage: "s", data: {}, expiresAt: now() + 60 };
    const records = sqliteRecordStore({ path, now });
    await records.create(record);
    await rows.change(KEY, { set: { version: 1 } }, {});
    const again = sqliteRecordStore({ path, now });
    expect(await again.get(record.key)).toMatchObject(record);
    const db = new DatabaseSync(path);
    expect(db.prepare("pragma user_version").get()).toEqual({ user_version: 1 });
    db.close();
    for (const store of [records, again]) await store.close();
  });

  it("of one table are not those of another in the same file", async () => {
    const [one, other] = [sqliteTokenRows({ path, table: "one" }), sqliteTokenRows({ path, table: "other" })];
    await one.change(KEY, { set: { version: 1 } }, {});
    expect(await other.get(KEY)).toBeUndefined();
    expect(await other.partition(KEY.pk)).toEqual([]);
    expect(await other.scan({ limit: 9 })).toEqual({ rows: [] });
    await other.delete(KEY, {});
    expect(await one.get(KEY)).toBeDefined();
    for (const rows of [one, other]) await rows.close();
  });

  it("wait for another process that holds the file, and are read meanwhile", async () => {
    await rows.change(KEY, { set: { version: 1 } }, {});
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    const changed = rows.change(KEY, { set: { version: 2 } }, { version: 1 });
    expect((await rows.get(KEY))?.attributes).toEqual({ version: 1 });
    other.exec("rollback");
    other.close();
    expect(await changed).toBe("written");
    expect((await rows.get(KEY))?.attributes).toEqual({ version: 2 });
  });

  it.each(["canary{", '{"access_token":"canary', "null", "[]"])("that hold %s are broken ones", async (text) => {
    const other = { pk: KEY.pk, sk: "VENDOR#other" };
    for (const key of [KEY, other]) await rows.change(key, { set: { version: 1 } }, {});
    const db = new DatabaseSync(path);
    db.prepare("update token_rows set attributes = ? where sk = ?").run(text, KEY.sk);
    db.close();
    const broken = { key: KEY, attributes: { data_key: "" } };
    expect(() => sealedHalfOf(broken.attributes)).toThrow(expect.objectContaining({ code: "unreadable" }));
    expect(await rows.get(KEY)).toEqual(broken);
    expect((await rows.scan({ limit: 9 })).rows).toEqual([broken, { key: other, attributes: { version: 1 } }]);
    expect(await rows.change(KEY, { set: { version: 1 }, remove: ["data_key"] }, { version: undefined })).toBe(
      "written",
    );
    expect((await rows.get(KEY))?.attributes).toEqual({ version: 1 });
  });
});
