/**
 * A keyset of another place, or an older one put back. keyset-place.twin.test.ts has the same
 * attacks with a defence off.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { seal } from "@oauth-broker/token-store";
import { describe, expect, it } from "vitest";
import {
  dataIn,
  FLOORS,
  KEYSET,
  keysetOn,
  keysetsInFile,
  keysetFixture,
  newStore,
  now,
  PRODUCTION,
  putInto,
  refusedWith,
  rotatedAndPutBack,
  STAGING,
  stagingInProduction,
} from "../testing/keyset-fixture.ts";
import { createKeyset } from "./keyset.ts";

const fixture = keysetFixture();

describe("a keyset of another base_url or table", () => {
  it("bar#TS-3 does not open, whatever the record says of itself (#11)", async () => {
    const { ours } = await stagingInProduction(fixture);
    await expect(ours.load()).rejects.toMatchObject(
      refusedWith("belongs to https://staging.example, table broker in eu-west-1"),
    );
    await expect(ours.load()).rejects.toMatchObject(refusedWith("main.js keys adopt 1"));
    expect(ours.isLoaded()).toBe(false);
    const { ours: disguised } = await stagingInProduction(fixture, { baseUrl: PRODUCTION.baseUrl });
    await expect(disguised.load()).rejects.toMatchObject(refusedWith("sealed under another key"));
    const { ours: elsewhere } = await stagingInProduction(fixture, { table: "other" });
    await expect(elsewhere.load()).rejects.toMatchObject(refusedWith("table other"));
  });

  it("is adopted by its revision, and belongs here from then on", async () => {
    const { ours, staging } = await stagingInProduction(fixture);
    await expect(ours.adopt(2)).rejects.toMatchObject(refusedWith("of revision 1, not 2"));
    expect(await ours.adopt(1)).toBe(2);
    await ours.load();
    expect(ours.active("state")).toEqual(staging.active("state"));
  });

  it("is refused as a key file, too, and a copy of it on another machine is not", async () => {
    const path = join(fixture.folder, "keys.json");
    const at = keysetsInFile(path);
    await at(STAGING.baseUrl).load();
    await expect(at(PRODUCTION.baseUrl).load()).rejects.toMatchObject(refusedWith("main.js keys adopt 1"));
    await at(STAGING.baseUrl).load();
    expect(await at(PRODUCTION.baseUrl).adopt(1)).toBe(2);
    await at(PRODUCTION.baseUrl).load();
    const found = JSON.parse(readFileSync(path, "utf8")) as { readonly generations: readonly JsonObject[] };
    const first = found.generations[0]!;
    for (const [content, problem] of [
      ["not a keyset", "is not a keyset file"],
      [{ ...found, version: 2 }, "newer release, or is damaged at version"],
      [{ ...found, revision: 1.5 }, "no whole number"],
      [{ ...found, revision: "2" }, "no whole number"],
      [{ ...found, contextSecret: undefined }, "damaged at contextSecret"],
      [{ ...found, generations: [] }, "damaged at generations"],
      [{ ...found, generations: [{ ...first, secret: "" }] }, "damaged at generations.0.secret"],
      [{ ...found, generations: [first, { ...first, activeFrom: "now" }] }, "damaged at generations.1.activeFrom"],
    ] as const) {
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
      const keyset = at(PRODUCTION.baseUrl);
      for (const used of [keyset.look, keyset.load, keyset.rotate, async () => keyset.adopt(2)]) {
        await expect(used()).rejects.toMatchObject(refusedWith(problem));
      }
    }
  });
});

describe("an older keyset put back", () => {
  it.each(FLOORS)("is refused after a restart by $name (#11)", async ({ floorOf }) => {
    const records = await rotatedAndPutBack(fixture, floorOf(fixture));
    const restarted = keysetOn(records, fixture, floorOf(fixture));
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("of revision 1, and 2 was in use"));
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("main.js keys adopt 1"));
    // A backup restored on purpose gets a revision above all that were in use.
    expect(await restarted.adopt(1)).toBe(3);
    await keysetOn(records, fixture, floorOf(fixture)).load();
  });

  it("is refused by the process that has seen a newer one, which keeps that", async () => {
    const records = newStore();
    const keyset = keysetOn(records, fixture);
    await keyset.load();
    const old = await dataIn(records);
    await keyset.rotate();
    await putInto(records, old);
    await expect(keyset.load()).rejects.toMatchObject(refusedWith("undoes a rotation"));
    await expect(keyset.rotate()).rejects.toMatchObject(refusedWith("undoes a rotation"));
    expect(keyset.describe()).toHaveLength(2);
  });

  it("does not pass for a newer one with another number in its record", async () => {
    const records = newStore();
    const keyset = keysetOn(records, fixture);
    await keyset.load();
    await putInto(records, { ...(await dataIn(records)), revision: 9 });
    await expect(keysetOn(records, fixture, { minimum: 9 }).load()).rejects.toMatchObject(
      refusedWith("sealed under another key"),
    );
    // A process that has opened it before refuses it too.
    await expect(keyset.load()).rejects.toMatchObject(refusedWith("sealed under another key"));
  });

  it("fails closed on a floor file without a revision; a read-only folder works", async () => {
    const file = join(fixture.folder, "key.revision");
    writeFileSync(file, "many");
    const keyset = keysetOn(newStore(), fixture, { file });
    await expect(keyset.load()).rejects.toMatchObject(refusedWith("holds no revision"));
    await keysetOn(newStore(), fixture, { file: join(fixture.folder, "nowhere", "key.revision") }).load();
    // As an editor writes it, and as many digits as `keys_min_revision` takes.
    writeFileSync(file, "1000000000\r\n");
    await expect(keyset.load()).rejects.toMatchObject(refusedWith("of revision 1000000000 was in use"));
  });
});

describe("a keyset that is gone", () => {
  it.each(FLOORS)("bar#TS-19 is an outage after a restart, not a first start, by $name", async ({ floorOf }) => {
    const records = await rotatedAndPutBack(fixture, floorOf(fixture));
    await records.delete(KEYSET);
    const restarted = keysetOn(records, fixture, floorOf(fixture));
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("one of revision 2 was in use"));
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("main.js keys new"));
    await expect(restarted.rotate()).rejects.toMatchObject(refusedWith("is gone"));
    expect(restarted.isLoaded()).toBe(false);
    expect(await records.get(KEYSET)).toBeUndefined();
    // The operator decides that it is lost.
    expect(await restarted.startOver()).toBe(3);
    await keysetOn(records, fixture, floorOf(fixture)).load();
  });

  it("is kept by the process that has it, which reports it at every load", async () => {
    const records = newStore();
    const keyset = keysetOn(records, fixture);
    await keyset.load();
    const { kid } = keyset.active("state");
    await records.delete(KEYSET);
    await expect(keyset.load()).rejects.toMatchObject(refusedWith("is gone"));
    expect(keyset.active("state").kid).toBe(kid);
  });

  it("is not replaced while there is one, whoever it belongs to", async () => {
    const records = newStore();
    const keyset = keysetOn(records, fixture);
    await keyset.load();
    const data = await dataIn(records);
    await expect(keyset.startOver()).rejects.toMatchObject(refusedWith("nothing was changed"));
    const { ours } = await stagingInProduction(fixture);
    await expect(ours.startOver()).rejects.toMatchObject(refusedWith("nothing was changed"));
    expect(await dataIn(records)).toEqual(data);
  });
});

describe("a keyset of release 0.1.0, bound to nothing", () => {
  async function unbound(): Promise<{ records: RecordStore; data: JsonObject; kid: string }> {
    const model = newStore();
    const modelKeyset = keysetOn(model, fixture);
    await modelKeyset.load();
    let text = "";
    const storage = {
      read: async () => (text === "" ? undefined : { tag: "1", revision: 1, text }),
      write: async (_: unknown, next: { text: string }) => ((text = next.text), true),
    };
    const keyset = createKeyset({ storage, now });
    await keyset.load();
    const { dataKey, wrapped } = await fixture.wrapper.newDataKey({ purpose: "keyset" });
    const data = { v: 1, wrapped, sealed: seal(dataKey, text, ["keyset"]) };
    const records = newStore();
    await putInto(records, data);
    return { records, data, kid: keyset.active("state").kid };
  }

  it("opens, is bound at the first start, and is not taken back then", async () => {
    const { records, data, kid } = await unbound();
    const file = join(fixture.folder, "key.revision");
    const keyset = keysetOn(records, fixture, { file });
    await keyset.load();
    expect([keyset.active("state").kid, keyset.revision()]).toEqual([kid, 1]);
    expect(await dataIn(records)).toMatchObject({ v: 2, revision: 1, ...PRODUCTION });
    expect(readFileSync(file, "utf8")).toBe("1\n");
    await putInto(records, data);
    const restarted = keysetOn(records, fixture, { file });
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("main.js keys adopt 0"));
    expect(await restarted.adopt(0)).toBe(2);
  });

  it("is looked at without being bound", async () => {
    const { records, data } = await unbound();
    expect(await keysetOn(records, fixture).look()).toBe(true);
    expect(await dataIn(records)).toEqual(data);
  });

  it("serves although it cannot be bound now, and is bound later", async () => {
    const { records, kid } = await unbound();
    const { newDataKey } = fixture.wrapper;
    fixture.wrapper.newDataKey = () => Promise.reject(new Error("away"));
    const keyset = keysetOn(records, fixture);
    await keyset.load();
    expect([keyset.active("state").kid, keyset.revision()]).toEqual([kid, 0]);
    fixture.wrapper.newDataKey = newDataKey;
    await keyset.load();
    expect(keyset.revision()).toBe(1);
  });
});
