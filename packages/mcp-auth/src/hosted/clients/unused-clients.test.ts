/** Which client is deleted when too many never got tokens, at every process. */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock, shared, volume } from "@oauth-broker/oauth-core/testing";
import { authenticatedRecords, oneMacKey } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, describe, expect, it } from "vitest";
import { RECORD_STORES, type RecordStores } from "../../testing/record-stores.ts";
import { testServerKey } from "../../testing/test-sessions.ts";
import { findRegistered, markUsed, registerClient } from "./registration.ts";
import { createUnusedClients } from "./unused-clients.ts";

const NOW = 1_700_000_000;
/** Token-store's tests compare the answers of DynamoDB with those of the others. */
const KINDS = volume({ test: ["memory", "sqlite"], soak: Object.keys(RECORD_STORES) });
const MOST = 3;
const ALL_KNOWN = Array.from({ length: MOST }, () => true);
const RULES = { hosts: [] };
const METADATA = JSON.stringify({ redirect_uris: ["https://app.example/back"], client_name: "App" });

const KEY = testServerKey(fixedClock(NOW));

let now: ReturnType<typeof fixedClock>;
let records: RecordStore;
let register: () => Promise<string>;

/** One process of the server. */
function processOn(store: RecordStore, serverKey = KEY): () => Promise<string> {
  const makeRoom = createUnusedClients({ records: store, serverKey, now }, MOST);
  return async () => {
    const { body } = await registerClient(METADATA, RULES, { records: store, now, beforeStoring: makeRoom });
    return String((JSON.parse(String(body)) as Record<string, unknown>)["client_id"]);
  };
}

async function registerAll(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await register());
  return ids;
}

const isKnown = async (clientId: string): Promise<boolean> =>
  (await findRegistered(clientId, RULES, { records })) !== undefined;
const known = async (ids: readonly string[]): Promise<boolean[]> => Promise.all(ids.map(isKnown));
const use = (clientId: string): Promise<void> => markUsed({ clientId }, { records, now });

describe.each(KINDS)("bar#AS-12 beyond the bound of unused clients, in %s", (kind) => {
  const stores = shared(async () => (await RECORD_STORES[kind]?.()) as RecordStores);
  beforeEach(async () => {
    now = fixedClock(NOW);
    records = await stores.fresh(now);
    register = processOn(records);
  });

  it("the oldest is deleted, and the new one is stored (#11)", async () => {
    const ids = await registerAll(MOST + 2);
    expect(await known(ids)).toEqual([false, false, ...ALL_KNOWN]);
  });

  it("one that got tokens stays, however many come after it (#11)", async () => {
    const [first = ""] = await registerAll(1);
    await use(first);
    const later = await registerAll(2 * MOST);
    expect(await isKnown(first)).toBe(true);
    expect((await known(later)).filter(Boolean)).toHaveLength(MOST);
  });

  it("nothing stays stored of the deleted ones", async () => {
    const [first = ""] = await registerAll(1 + MOST);
    expect(await records.get({ kind: "client", id: first }, { includeExpired: true })).toBeUndefined();
  });

  it("processes that register clients at the same moment keep one limit", async () => {
    const processes = Array.from({ length: 2 }, () => processOn(stores.again(now)));
    const ids: string[] = [];
    // Fewer at a time than there are slots: none is deleted before it is stored.
    for (let round = 0; round < 3; round += 1)
      ids.push(...(await Promise.all(processes.map((registerThere) => registerThere()))));
    expect(new Set(ids).size).toBe(6);
    expect((await known(ids)).filter(Boolean)).toHaveLength(MOST);
    expect(await isKnown(await register())).toBe(true);
  });

  it("a first use and the end of a client at once: one of the two, never both halves", async () => {
    for (let round = 0; round < 4; round += 1) {
      const [first = ""] = await registerAll(MOST);
      await Promise.all([use(first), register()]);
      const record = await records.get({ kind: "client", id: first });
      expect([undefined, "used"]).toContain(record?.stage);
    }
  });

  it("begins anew when no client came for as long as one lives unused", async () => {
    await registerAll(MOST - 1);
    now.advance(86_400);
    const ids = await registerAll(MOST + 1);
    expect(await known(ids)).toEqual([false, ...ALL_KNOWN]);
  });

  it("a store that does not answer once keeps no later client out", async () => {
    let isDown = true;
    const advance: RecordStore["advance"] = async (...args) => {
      if (isDown) throw new Error("down");
      return records.advance(...args);
    };
    await register();
    const failing = processOn({ ...records, advance });
    await expect(failing()).rejects.toThrow("down");
    isDown = false;
    expect(await isKnown(await failing())).toBe(true);
  });
});

it("another server key, under which no earlier record can be read, keeps no client out (#11)", async () => {
  now = fixedClock(NOW);
  const table = memoryRecordStore({ now });
  for (const serverKey of [KEY, testServerKey(now)]) {
    records = authenticatedRecords({ records: table, keys: oneMacKey(() => serverKey.derive("record-mac")) });
    register = processOn(records, serverKey);
    const ids = await registerAll(MOST + 1);
    expect(await known(ids)).toEqual([false, ...ALL_KNOWN]);
  }
});
