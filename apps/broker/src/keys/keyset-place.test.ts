/** A keyset of another place, or an older one put back. Twins: one defence off each, and it is taken. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { type LocalKeyWrapper, memoryRecordStore, seal } from "@oauth-broker/token-store";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Keyset } from "./keyset.ts";

const now = fixedClock(1_700_000_000);
const KEYSET = { kind: "keyset", id: "broker" };
const PRODUCTION = { baseUrl: "https://broker.example", environment: "eu-west-1", table: "broker" };
const STAGING = { ...PRODUCTION, baseUrl: "https://staging.example" };

let folder: string;
/** One key of the key service that may be used at both places. */
let wrapper: LocalKeyWrapper;
beforeEach(async () => {
  vi.resetModules();
  // Of the same modules as what is tested: errors are told apart by their class.
  const { localKeyWrapper } = await import("@oauth-broker/token-store");
  folder = mkdtempSync(join(tmpdir(), "keyset-place-"));
  wrapper = localKeyWrapper({ path: join(folder, "key") });
});
afterEach(() => rmSync(folder, { recursive: true }));

const newStore = (): RecordStore => memoryRecordStore({ now });
const refusedWith = (detail: string) => ({
  code: "temporarily_unavailable",
  extras: { reason: "keys_unavailable" },
  detail: expect.stringContaining(detail),
});

/** As a process starts: nothing read yet. */
async function keysetOn(
  records: RecordStore,
  { place = PRODUCTION, file, minimum }: { place?: typeof PRODUCTION; file?: string; minimum?: number } = {},
): Promise<Keyset> {
  const [{ createKeyset }, { recordKeysetStorage }, { createRevisionFloor }] = await Promise.all([
    import("./keyset.ts"),
    import("./keyset-storage.ts"),
    import("./keyset-floor.ts"),
  ]);
  const storage = recordKeysetStorage({ records, place, wrapper, otherwise: "another key" });
  return createKeyset({ storage, floor: createRevisionFloor({ file, minimum }), now });
}

async function dataIn(records: RecordStore): Promise<JsonObject> {
  return (await records.get(KEYSET))!.data;
}

/** What an attacker does who can write the table. */
async function putInto(records: RecordStore, data: JsonObject): Promise<void> {
  await records.delete(KEYSET);
  await records.create({ key: KEYSET, stage: "put back", data, expiresAt: 9_000_000_000 });
}

describe("a keyset of another base_url or table", () => {
  async function stagingInProduction(change: Partial<JsonObject> = {}): Promise<{ ours: Keyset; staging: Keyset }> {
    const [stagingStore, store] = [newStore(), newStore()];
    const staging = await keysetOn(stagingStore, { place: STAGING });
    await staging.load();
    await putInto(store, { ...(await dataIn(stagingStore)), ...change } as JsonObject);
    return { ours: await keysetOn(store), staging };
  }

  it("bar#TS-3 does not open, whatever the record says of itself (#11)", async () => {
    const { ours } = await stagingInProduction();
    await expect(ours.load()).rejects.toMatchObject(
      refusedWith("belongs to https://staging.example, table broker in eu-west-1"),
    );
    await expect(ours.load()).rejects.toMatchObject(refusedWith("main.js keys adopt 1"));
    expect(ours.isLoaded()).toBe(false);
    const { ours: disguised } = await stagingInProduction({ baseUrl: PRODUCTION.baseUrl });
    await expect(disguised.load()).rejects.toMatchObject(refusedWith("sealed under another key"));
    const { ours: elsewhere } = await stagingInProduction({ table: "other" });
    await expect(elsewhere.load()).rejects.toMatchObject(refusedWith("table other"));
  });

  it("opens where it is bound to nothing (twin of bar#TS-3)", async () => {
    vi.doMock("./keyset-binding.ts", async (original) => {
      const module = await original<typeof import("./keyset-binding.ts")>();
      return { ...module, bindingOf: () => module.UNBOUND };
    });
    const { ours, staging } = await stagingInProduction();
    vi.doUnmock("./keyset-binding.ts");
    await ours.load();
    expect(ours.active("state")).toEqual(staging.active("state"));
  });

  it("is adopted by its revision, and belongs here from then on", async () => {
    const { ours, staging } = await stagingInProduction();
    await expect(ours.adopt(2)).rejects.toMatchObject(refusedWith("of revision 1, not 2"));
    expect(await ours.adopt(1)).toBe(2);
    await ours.load();
    expect(ours.active("state")).toEqual(staging.active("state"));
  });

  it("is refused as a key file, too, and a copy of it on another machine is not", async () => {
    const [{ createKeyset }, { fileKeysetStorage }] = await Promise.all([
      import("./keyset.ts"),
      import("./keyset-storage.ts"),
    ]);
    const path = join(folder, "keys.json");
    const at = (baseUrl: string) => createKeyset({ storage: fileKeysetStorage({ path, baseUrl }), now });
    await at(STAGING.baseUrl).load();
    await expect(at(PRODUCTION.baseUrl).load()).rejects.toMatchObject(refusedWith("main.js keys adopt 1"));
    await at(STAGING.baseUrl).load();
    expect(await at(PRODUCTION.baseUrl).adopt(1)).toBe(2);
    await at(PRODUCTION.baseUrl).load();
    writeFileSync(path, "none of it");
    await expect(at(PRODUCTION.baseUrl).load()).rejects.toMatchObject(refusedWith("is not a keyset file"));
  });

  it("opens as a key file where nothing compares (twin)", async () => {
    vi.doMock("./keyset-binding.ts", async (original) => ({
      ...(await original<object>()),
      requireSameBaseUrl: () => undefined,
    }));
    const [{ createKeyset }, { fileKeysetStorage }] = await Promise.all([
      import("./keyset.ts"),
      import("./keyset-storage.ts"),
    ]);
    vi.doUnmock("./keyset-binding.ts");
    const path = join(folder, "keys.json");
    const at = (baseUrl: string) => createKeyset({ storage: fileKeysetStorage({ path, baseUrl }), now });
    const [staging, production] = [at(STAGING.baseUrl), at(PRODUCTION.baseUrl)];
    await staging.load();
    await production.load();
    expect(production.active("state")).toEqual(staging.active("state"));
  });
});

describe("an older keyset put back", () => {
  const floors = [
    ["a file beside the key", () => ({ file: join(folder, "key.revision") })],
    ["the configuration", () => ({ minimum: 2 })],
  ] as const;

  async function rotatedAndPutBack({ file }: { file?: string; minimum?: number }): Promise<RecordStore> {
    const records = newStore();
    const first = await keysetOn(records, file === undefined ? {} : { file });
    await first.load();
    const old = await dataIn(records);
    await first.rotate();
    await putInto(records, old);
    return records;
  }

  it.each(floors)("is refused after a restart by %s (#11)", async (_what, floorOf) => {
    const records = await rotatedAndPutBack(floorOf());
    const restarted = await keysetOn(records, floorOf());
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("of revision 1, and 2 was in use"));
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("main.js keys adopt 1"));
    // A backup that was restored on purpose comes out above everything there was.
    expect(await restarted.adopt(1)).toBe(3);
    await (await keysetOn(records, floorOf())).load();
  });

  it.each(floors)("is taken where nothing asks for the floor in %s (twin)", async (_what, floorOf) => {
    vi.doMock("./keyset-floor.ts", async (original) => ({
      ...(await original<object>()),
      requireRevision: () => undefined,
    }));
    const records = await rotatedAndPutBack(floorOf());
    const restarted = await keysetOn(records, floorOf());
    vi.doUnmock("./keyset-floor.ts");
    await restarted.load();
    expect(restarted.describe()).toHaveLength(1);
  });

  it("is refused by the process that has seen a newer one, which keeps that", async () => {
    const records = newStore();
    const keyset = await keysetOn(records);
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
    const keyset = await keysetOn(records);
    await keyset.load();
    await putInto(records, { ...(await dataIn(records)), revision: 9 });
    await expect((await keysetOn(records, { minimum: 9 })).load()).rejects.toMatchObject(
      refusedWith("sealed under another key"),
    );
    // Nor to the process that has opened it before.
    await expect(keyset.load()).rejects.toMatchObject(refusedWith("sealed under another key"));
  });

  it("fails closed where the file of the floor holds none, and lives with a folder that cannot be written", async () => {
    const file = join(folder, "key.revision");
    writeFileSync(file, "many");
    const keyset = await keysetOn(newStore(), { file });
    await expect(keyset.load()).rejects.toMatchObject(refusedWith("holds no revision"));
    await (await keysetOn(newStore(), { file: join(folder, "nowhere", "key.revision") })).load();
  });
});

describe("a keyset of release 0.1.0, bound to nothing", () => {
  async function unbound(): Promise<{ records: RecordStore; data: JsonObject; kid: string }> {
    const model = newStore();
    const modelKeyset = await keysetOn(model);
    await modelKeyset.load();
    const { createKeyset } = await import("./keyset.ts");
    let text = "";
    const storage = {
      read: async () => (text === "" ? undefined : { tag: "1", revision: 1, text }),
      write: async (_: unknown, next: { text: string }) => ((text = next.text), true),
    };
    const keyset = createKeyset({ storage, now });
    await keyset.load();
    const { dataKey, wrapped } = await wrapper.newDataKey({ purpose: "keyset" });
    const data = { v: 1, wrapped, sealed: seal(dataKey, text, ["keyset"]) };
    const records = newStore();
    await putInto(records, data);
    return { records, data, kid: keyset.active("state").kid };
  }

  it("opens, is bound at the first start, and is not taken back then", async () => {
    const { records, data, kid } = await unbound();
    const file = join(folder, "key.revision");
    const keyset = await keysetOn(records, { file });
    await keyset.load();
    expect([keyset.active("state").kid, keyset.revision()]).toEqual([kid, 1]);
    expect(await dataIn(records)).toMatchObject({ v: 2, revision: 1, ...PRODUCTION });
    expect(readFileSync(file, "utf8")).toBe("1\n");
    await putInto(records, data);
    const restarted = await keysetOn(records, { file });
    await expect(restarted.load()).rejects.toMatchObject(refusedWith("main.js keys adopt 0"));
    expect(await restarted.adopt(0)).toBe(2);
  });

  it("is looked at without being bound", async () => {
    const { records, data } = await unbound();
    expect(await (await keysetOn(records)).look()).toBe(true);
    expect(await dataIn(records)).toEqual(data);
  });

  it("serves although it cannot be bound now, and is bound later", async () => {
    const { records, kid } = await unbound();
    const { newDataKey } = wrapper;
    wrapper.newDataKey = () => Promise.reject(new Error("away"));
    const keyset = await keysetOn(records);
    await keyset.load();
    expect([keyset.active("state").kid, keyset.revision()]).toEqual([kid, 0]);
    wrapper.newDataKey = newDataKey;
    await keyset.load();
    expect(keyset.revision()).toBe(1);
  });
});
