import { existsSync } from "node:fs";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type KeyWrapper, OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { localKeyWrapper } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, describe, expect, it } from "vitest";
import { KEYSET, PRODUCTION, refusedWith } from "../testing/keyset-fixture.ts";
import { createKeyset, type Keyset, PUBLISH_SECONDS, RETIRED_STATE_SECONDS } from "./keyset.ts";
import { fileKeysetStorage, type KeysetStorage, memoryKeysetStorage, recordKeysetStorage } from "./keyset-storage.ts";

const NOW = 1_700_000_000;
const BASE_URL = "https://broker.example";
let folder: string;
let now: ReturnType<typeof fixedClock>;
let records: RecordStore;
const sealedBy = (wrapper: KeyWrapper) =>
  recordKeysetStorage({ records, place: PRODUCTION, wrapper, otherwise: "another key file: restore the key file" });
const keyFile = (name = "key") => localKeyWrapper({ path: join(folder, name) });
const keysetOn = (storage: KeysetStorage = memoryKeysetStorage()): Keyset => createKeyset({ storage, now });
const loaded = async (storage?: KeysetStorage): Promise<Keyset> => {
  const keyset = keysetOn(storage);
  await keyset.load();
  return keyset;
};
beforeEach(() => {
  folder = temporaryFolder();
  now = fixedClock(NOW);
  records = memoryRecordStore({ now });
});

describe("keyset", () => {
  it("bar#CB-5 derives a key of its own for each purpose", async () => {
    const keyset = await loaded();
    const keys = (["state", "flow", "connection", "parked-tokens"] as const).map((purpose) => keyset.active(purpose));
    expect(new Set(keys.map(({ key }) => key.toString("hex"))).size).toBe(4);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
  });

  it("is unavailable until it was loaded, and says so", () => {
    const keyset = keysetOn();
    expect(() => keyset.active("state")).toThrow(expect.objectContaining({ code: "temporarily_unavailable" }));
  });

  it("publishes a new key before it uses it, and keeps the old one for opening", async () => {
    const keyset = await loaded();
    const first = keyset.active("connection");
    const { kid, activeFrom } = await keyset.rotate();
    expect(activeFrom).toBe(NOW + PUBLISH_SECONDS);
    now.advance(PUBLISH_SECONDS - 1);
    expect(keyset.active("connection").kid).toBe(first.kid);
    now.advance(1);
    expect(keyset.active("connection").kid).toBe(kid);
    expect(await keyset.find("connection", first.kid)).toEqual(first.key);
  });

  it("refuses states of an old key in time, and opens connections with it for ever", async () => {
    const keyset = await loaded();
    const { kid } = keyset.active("state");
    await keyset.rotate();
    now.advance(PUBLISH_SECONDS + RETIRED_STATE_SECONDS - 1);
    expect(await keyset.find("state", kid)).toBeDefined();
    now.advance(1);
    expect(await keyset.find("state", kid)).toBeUndefined();
    expect(await keyset.find("connection", kid)).toBeDefined();
  });

  it("bar#TS-3 stops accepting MACs of an old key when no record under it can be left", async () => {
    const keyset = await loaded();
    const { kid } = keyset.active("record-mac");
    const { activeFrom } = await keyset.rotate();
    // The longest life of a record, and the hour for which its timeline is kept.
    now.advance(activeFrom - NOW + 600 + 3600);
    expect(await keyset.find("record-mac", kid)).toBeDefined();
    now.advance(300);
    expect(await keyset.find("record-mac", kid)).toBeUndefined();
    expect(await keyset.find("connection", kid)).toBeDefined();
  });

  it("bar#TS-19 keeps the newer keyset when a read that began earlier ends later", async () => {
    const storage = memoryKeysetStorage();
    const held: (() => void)[] = [];
    let isSlow = false;
    const slow: KeysetStorage = {
      ...storage,
      read: async () => {
        const stored = await storage.read();
        if (isSlow) await new Promise<void>((resolve) => void held.push(resolve));
        return stored;
      },
    };
    const ours = await loaded(slow);
    const sister = keysetOn(storage);
    isSlow = true;
    const slower = ours.look();
    await expect.poll(() => held.length).toBe(1);
    isSlow = false;
    await sister.load();
    await sister.rotate();
    await ours.load();
    held[0]?.();
    await slower.catch(() => undefined);
    expect(ours.revision()).toBe(2);
    expect(ours.describe()).toHaveLength(2);
  });

  it("finds a key that a sister process made: an unknown kid re-reads, once a second at most", async () => {
    const stored = memoryKeysetStorage();
    let reads = 0;
    const counting: KeysetStorage = { ...stored, read: async () => (reads++, stored.read()) };
    const ours = await loaded(counting);
    const sister = await loaded(stored);
    now.advance(10);
    const { kid } = await sister.rotate();
    reads = 0;
    expect(await ours.find("state", kid)).toBeDefined();
    for (let index = 0; index < 20; index++) expect(await ours.find("state", `unknown${index}`)).toBeUndefined();
    expect(reads).toBe(1);
  });

  it("finds it for each of several callers at once, with one read", async () => {
    const storage = memoryKeysetStorage();
    let reads = 0;
    const slow: KeysetStorage = {
      ...storage,
      read: async (options) => {
        reads += 1;
        const stored = await storage.read(options);
        await new Promise((resolve) => setTimeout(resolve, 10));
        return stored;
      },
    };
    const [one, other] = [await loaded(storage), await loaded(slow)];
    const { kid } = await one.rotate();
    now.advance(PUBLISH_SECONDS);
    reads = 0;
    const found = await Promise.all([1, 2, 3].map(async () => other.find("state", kid)));
    expect(found.every((key) => key !== undefined)).toBe(true);
    expect(reads).toBe(1);
  });

  it("keeps both of two rotations at the same moment", async () => {
    const storage = sealedBy(keyFile());
    const [one, two] = [keysetOn(storage), keysetOn(storage)];
    await Promise.all([one.load(), two.load()]);
    expect(one.active("state")).toEqual(two.active("state"));
    await Promise.all([one.rotate(), two.rotate()]);
    await one.load();
    expect(one.describe()).toHaveLength(3);
  });
});

describe.each<[string, () => KeysetStorage]>([
  ["memory", memoryKeysetStorage],
  ["file", () => fileKeysetStorage({ path: join(folder, "deep/keyset.json"), baseUrl: BASE_URL })],
  ["record", () => sealedBy(keyFile())],
])("keyset storage: %s", (_, make) => {
  it("makes the first once and replaces only what was read", async () => {
    const storage = make();
    expect(await storage.read()).toBeUndefined();
    const made = await Promise.all(
      ['{"a":1}', '{"b":1}', '{"c":1}'].map((text) => storage.write(undefined, { text, revision: 1 })),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    const first = await storage.read();
    expect(await storage.write(first, { text: '{"next":1}', revision: 2 })).toBe(true);
    expect(await storage.write(first, { text: '{"lost":1}', revision: 2 })).toBe(false);
    expect(await storage.read()).toMatchObject({ text: '{"next":1}', revision: 2 });
  });
});

it("keeps a key file to its owner", async () => {
  const path = join(folder, "keyset.json");
  await fileKeysetStorage({ path, baseUrl: BASE_URL }).write(undefined, { text: "{}", revision: 1 });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it("bar#OB-6 makes no key file where one must have been brought", async () => {
  const path = join(folder, "keyset.json");
  const storage = fileKeysetStorage({ path, baseUrl: BASE_URL, create: false });
  const keyset = keysetOn(storage);
  await expect(keyset.load()).rejects.toMatchObject({ code: "temporarily_unavailable", detail: expect.any(String) });
  expect(existsSync(path)).toBe(false);
  await loaded(fileKeysetStorage({ path, baseUrl: BASE_URL }));
  await keyset.load();
  expect(keyset.isLoaded()).toBe(true);
});

it("leaves no key readable in the record", async () => {
  await loaded(sealedBy(keyFile()));
  const record = JSON.stringify(await records.get(KEYSET));
  expect(record).not.toContain("generations");
  expect(record).not.toContain((await readFile(join(folder, "key"), "utf8")).trim().split("\n").at(-1));
});

describe("a keyset record", () => {
  it("says what is wrong when the key file is another store's, or lost", async () => {
    await sealedBy(keyFile("one")).write(undefined, { text: "{}", revision: 1 });
    const other = sealedBy(keyFile("two"));
    await expect(other.read()).rejects.toMatchObject(refusedWith("The key file is missing"));
    await other.requireKey?.();
    await expect(other.read()).rejects.toMatchObject(
      refusedWith("sealed under another key file: restore the key file"),
    );
  });

  it("reports an invalid key file, and a record that is altered or of another release", async () => {
    await mkdir(join(folder, "no-file"));
    await expect(sealedBy(keyFile("no-file")).write(undefined, { text: "{}", revision: 1 })).rejects.toMatchObject(
      refusedWith("The key file is not one of ours"),
    );
    await sealedBy(keyFile()).write(undefined, { text: "{}", revision: 1 });
    const record = await records.get(KEYSET);
    const from = { stage: record?.stage ?? "", expect: {} };
    await records.advance(KEYSET, from, { stage: "altered", set: { sealed: "AAAA" } });
    await expect(sealedBy(keyFile()).read()).rejects.toMatchObject(refusedWith("sealed under another"));
    await records.advance(KEYSET, { stage: "altered", expect: {} }, { stage: "newer", set: { v: 3 } });
    await expect(sealedBy(keyFile()).read()).rejects.toMatchObject(refusedWith("format"));
  });

  it("passes on an outage of the key service unchanged, and does not cache it", async () => {
    await sealedBy(keyFile()).write(undefined, { text: "{}", revision: 1 });
    const outage = new OAuthError("temporarily_unavailable", "away", { reason: "kms_unavailable" });
    let isAway = true;
    const wrapper = keyFile();
    const storage = sealedBy({
      newDataKey: (context) => (isAway ? Promise.reject(outage) : wrapper.newDataKey(context)),
      unwrap: (wrapped, context) => (isAway ? Promise.reject(outage) : wrapper.unwrap(wrapped, context)),
    });
    await expect(storage.read()).rejects.toBe(outage);
    await expect(storage.write({ tag: "any" }, { text: "{}", revision: 2 })).rejects.toBe(outage);
    isAway = false;
    expect((await storage.read())?.text).toBe("{}");
  });

  it("asks the key service once for each revision, however often it is read", async () => {
    const wrapper = keyFile();
    const calls: string[] = [];
    const counted: KeyWrapper = {
      newDataKey: async (context) => (calls.push("newDataKey"), wrapper.newDataKey(context)),
      unwrap: async (wrapped, context) => (calls.push("unwrap"), wrapper.unwrap(wrapped, context)),
    };
    const [ours, sisters] = [sealedBy(counted), sealedBy(wrapper)];
    await ours.write(undefined, { text: "1", revision: 1 });
    for (let reload = 0; reload < 5; reload += 1) expect((await ours.read())?.text).toBe("1");
    expect(calls).toEqual(["newDataKey"]);
    await sisters.write(await sisters.read(), { text: "2", revision: 2 });
    for (let reload = 0; reload < 5; reload += 1) expect((await ours.read())?.text).toBe("2");
    expect(calls).toEqual(["newDataKey", "unwrap"]);
    // A restored backup is noticed even when its revision equals the known one.
    const stage = (await ours.read())?.tag ?? "";
    const altered = { stage: "x", set: { sealed: "AAAA" } };
    await records.advance(KEYSET, { stage, expect: {} }, altered);
    await records.advance(KEYSET, { stage: "x", expect: {} }, { stage, set: {} });
    await expect(ours.read()).rejects.toMatchObject(refusedWith("sealed under another"));
  });
});
