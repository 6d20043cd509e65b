import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { createJournal, type Journal, type JournalEvent } from "./journal.ts";
import type { SealedChange } from "../tokens/token-records.ts";

const ID = "abcdefghijklmnopqrstuv";
const CHANGE: SealedChange = {
  key: { pk: "USER#u1", sk: "VENDOR#example" },
  change: { set: { sealed_access_token: "AQ", version: 2, written_at: 1_700_000_000 }, remove: ["lease_owner"] },
  expected: { version: 1, status: undefined, lease_owner: "me" },
};

let folder: string;
let events: JournalEvent[];
let journal: Journal;
beforeEach(() => {
  folder = join(temporaryFolder(), "made", "journal");
  events = [];
  journal = createJournal(folder, (event) => void events.push(event));
});

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe("the journal", () => {
  it("keeps a change exactly, conditions on absence included", async () => {
    expect(await journal.write(ID, CHANGE)).toBe(true);
    const [entry, ...others] = await journal.entries();
    expect(others).toEqual([]);
    // toStrictEqual: an attribute that must be absent differs from one without a condition.
    expect(entry).toStrictEqual({ attemptId: ID, change: CHANGE });
  });

  it("belongs to its user alone", async () => {
    await journal.write(ID, CHANGE);
    expect([modeOf(folder), modeOf(join(folder, `${ID}.json`))]).toEqual([0o700, 0o600]);
  });

  it("bar#TS-3 finds no file outside its folder, for any name of the attempt", async () => {
    await journal.write(ID, CHANGE);
    const name = "stolen-entry-of-another";
    const outside = join(folder, "..", `${name}.json`);
    writeFileSync(outside, readFileSync(join(folder, `${ID}.json`)));
    for (const attemptId of [`../${name}`, `x/../../${name}`, join(folder, "..", name), `./${ID}`, "short"]) {
      expect(await journal.find(attemptId)).toBeUndefined();
    }
    expect(await journal.find(ID)).toBeDefined();
    expect(events).toEqual([]);
  });

  it("forgets what was settled, once or twice", async () => {
    await journal.write(ID, CHANGE);
    await journal.remove(ID);
    await journal.remove(ID);
    expect(await journal.entries()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is empty where there is no folder yet", async () => {
    expect(await journal.entries()).toEqual([]);
    expect(events).toEqual([]);
  });

  it("writes over itself", async () => {
    await journal.write(ID, CHANGE);
    await journal.write(ID, { ...CHANGE, expected: { version: 7 } });
    expect((await journal.entries())[0]?.change.expected).toStrictEqual({ version: 7 });
  });

  const good = { format: 1, key: CHANGE.key, change: { set: { a: "b" } }, expected: {} };
  it.each([
    ["a file that was cut", '{"format":1,"key"'],
    ["another format", JSON.stringify({ ...good, format: 2 })],
    ["no key", JSON.stringify({ ...good, key: { pk: "USER#u1" } })],
    ["an attribute of another type", JSON.stringify({ ...good, change: { set: { a: { b: 1 } } } })],
    ["a value that is not a list", JSON.stringify({ ...good, change: { set: {}, remove: "a" } })],
    ["a list of others", JSON.stringify({ ...good, change: { set: {}, remove: [1] } })],
    ["no conditions", JSON.stringify({ ...good, expected: undefined })],
    ["conditions of another type", JSON.stringify({ ...good, expected: { a: true } })],
    ["no object", "[]"],
  ])("leaves %s alone, and says so", async (_what, text) => {
    await journal.write(ID, CHANGE);
    const path = join(folder, "zyxwvutsrqponmlkjihgfe.json");
    writeFileSync(path, text);
    expect((await journal.entries()).map(({ attemptId }) => attemptId)).toEqual([ID]);
    expect(events).toEqual([{ name: "journal_unreadable", path }]);
    expect(statSync(path).size).toBe(text.length);
  });

  it("reads files without a list of removals, and nothing that is not its own", async () => {
    await journal.write(ID, CHANGE);
    writeFileSync(join(folder, `${ID}.json`), JSON.stringify(good));
    writeFileSync(join(folder, `${ID}.json.draft`), "half");
    writeFileSync(join(folder, "README"), "mine");
    expect((await journal.entries()).map(({ change }) => change.change)).toEqual([{ set: { a: "b" }, remove: [] }]);
    expect(events).toEqual([]);
  });

  it("reports the path it cannot write or read", async () => {
    const path = "/dev/null/journal";
    const impossible = createJournal(path, (event) => void events.push(event));
    expect(await impossible.write(ID, CHANGE)).toBe(false);
    expect(await impossible.entries()).toEqual([]);
    await impossible.remove(ID);
    expect(events.map(({ name }) => name)).toEqual(["journal_failed", "journal_unreadable", "journal_failed"]);
  });

  it("keeps what is there when a write fails", async () => {
    await journal.write(ID, CHANGE);
    writeFileSync(join(folder, `${ID}.json.draft`), "");
    chmodSync(join(folder, `${ID}.json.draft`), 0o400);
    await journal.write(ID, CHANGE);
    expect(await journal.entries()).toHaveLength(1);
  });
});
