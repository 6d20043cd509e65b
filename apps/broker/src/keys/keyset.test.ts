import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { localKeyWrapper, memoryRecordStore } from "@oauth-broker/token-store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createKeyset, PUBLISH_SECONDS, RETIRED_STATE_SECONDS } from "./keyset.ts";
import { fileKeysetStorage, type KeysetStorage, memoryKeysetStorage, recordKeysetStorage } from "./keyset-storage.ts";

const NOW = 1_700_000_000;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyset-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("keyset", () => {
  it("bar#CB-5 derives a key of its own for each purpose", async () => {
    const keyset = createKeyset({ storage: memoryKeysetStorage(), now: fixedClock(NOW) });
    await keyset.load();
    const keys = (["state", "flow", "connection", "parked-tokens"] as const).map((purpose) => keyset.active(purpose));
    expect(new Set(keys.map(({ key }) => key.toString("hex"))).size).toBe(4);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
  });

  it("is unavailable until it was loaded, and says so", () => {
    const keyset = createKeyset({ storage: memoryKeysetStorage(), now: fixedClock(NOW) });
    expect(() => keyset.active("state")).toThrow(expect.objectContaining({ code: "temporarily_unavailable" }));
  });

  it("publishes a new key before it uses it, and keeps the old one for opening", async () => {
    const now = fixedClock(NOW);
    const keyset = createKeyset({ storage: memoryKeysetStorage(), now });
    await keyset.load();
    const first = keyset.active("connection");
    const { kid, activeFrom } = await keyset.rotate();
    expect(activeFrom).toBe(NOW + PUBLISH_SECONDS);
    now.advance(PUBLISH_SECONDS - 1);
    expect(keyset.active("connection").kid).toBe(first.kid);
    now.advance(1);
    expect(keyset.active("connection").kid).toBe(kid);
    expect(await keyset.find("connection", first.kid)).toEqual(first.key);
  });

  it("stops taking states of an old key once its successor is settled, but opens connections with it for ever", async () => {
    const now = fixedClock(NOW);
    const keyset = createKeyset({ storage: memoryKeysetStorage(), now });
    await keyset.load();
    const { kid } = keyset.active("state");
    await keyset.rotate();
    now.advance(PUBLISH_SECONDS + RETIRED_STATE_SECONDS - 1);
    expect(await keyset.find("state", kid)).toBeDefined();
    now.advance(1);
    expect(await keyset.find("state", kid)).toBeUndefined();
    expect(await keyset.find("connection", kid)).toBeDefined();
  });

  it("finds a key that a sister process made: an unknown kid re-reads, once a second at most", async () => {
    const now = fixedClock(NOW);
    const stored = memoryKeysetStorage();
    let reads = 0;
    const counting: KeysetStorage = { ...stored, read: async () => (reads++, stored.read()) };
    const ours = createKeyset({ storage: counting, now });
    const sister = createKeyset({ storage: stored, now });
    await ours.load();
    await sister.load();
    now.advance(10);
    const { kid } = await sister.rotate();
    reads = 0;
    expect(await ours.find("state", kid)).toBeDefined();
    for (let index = 0; index < 20; index++) expect(await ours.find("state", `unknown${index}`)).toBeUndefined();
    expect(reads).toBe(1);
  });

  it("loses none of two rotations at the same moment", async () => {
    const now = fixedClock(NOW);
    const storage = recordKeysetStorage({
      records: memoryRecordStore({ now }),
      wrapper: localKeyWrapper({ path: join(folder, "key") }),
    });
    const [one, two] = [createKeyset({ storage, now }), createKeyset({ storage, now })];
    await Promise.all([one.load(), two.load()]);
    expect(one.active("state")).toEqual(two.active("state"));
    await Promise.all([one.rotate(), two.rotate()]);
    await one.load();
    expect(one.describe()).toHaveLength(3);
  });
});

describe.each<[string, () => KeysetStorage]>([
  ["memory", memoryKeysetStorage],
  ["file", () => fileKeysetStorage({ path: join(folder, "deep/keyset.json") })],
  [
    "record",
    () =>
      recordKeysetStorage({
        records: memoryRecordStore({ now: fixedClock(NOW) }),
        wrapper: localKeyWrapper({ path: join(folder, "key") }),
      }),
  ],
])("keyset storage: %s", (_, make) => {
  it("makes the first once and replaces only what was read", async () => {
    const storage = make();
    expect(await storage.read()).toBeUndefined();
    const made = await Promise.all(["a", "b", "c"].map((text) => storage.write(undefined, JSON.stringify(text))));
    expect(made.filter(Boolean)).toHaveLength(1);
    const first = await storage.read();
    expect(await storage.write(first?.revision, '"next"')).toBe(true);
    expect(await storage.write(first?.revision, '"lost"')).toBe(false);
    expect((await storage.read())?.text).toBe('"next"');
  });
});

it("keeps a key file to its owner", async () => {
  const path = join(folder, "keyset.json");
  await fileKeysetStorage({ path }).write(undefined, "{}");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it("leaves nothing of the keys readable in the record", async () => {
  const now = fixedClock(NOW);
  const records = memoryRecordStore({ now });
  const wrapper = localKeyWrapper({ path: join(folder, "key") });
  const keyset = createKeyset({ storage: recordKeysetStorage({ records, wrapper }), now });
  await keyset.load();
  const record = JSON.stringify(await records.get({ kind: "keyset", id: "broker" }));
  expect(record).not.toContain("generations");
  expect(record).not.toContain((await readFile(join(folder, "key"), "utf8")).trim().split("\n").at(-1));
});

it("says what is wrong when the key file is another store's", async () => {
  const now = fixedClock(NOW);
  const records = memoryRecordStore({ now });
  const storage = (name: string) =>
    recordKeysetStorage({ records, wrapper: localKeyWrapper({ path: join(folder, name) }) });
  await createKeyset({ storage: storage("one"), now }).load();
  await expect(createKeyset({ storage: storage("two"), now }).load()).rejects.toMatchObject({
    code: "temporarily_unavailable",
    detail: expect.stringContaining("restore the key file"),
  });
});
