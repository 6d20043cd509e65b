/**
 * A keyset in a store at two places under one key, and what an attacker with write access to the
 * store can do.
 */
import { join } from "node:path";
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { type LocalKeyWrapper, localKeyWrapper } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, expect } from "vitest";
import { createRevisionFloor } from "../keys/keyset-floor.ts";
import { fileKeysetStorage, recordKeysetStorage } from "../keys/keyset-storage.ts";
import { createKeyset, type Keyset } from "../keys/keyset.ts";

export const now = fixedClock(1_700_000_000);
export const KEYSET = { kind: "keyset", id: "broker" };
export const PRODUCTION = { baseUrl: "https://broker.example", environment: "eu-west-1", table: "broker" };
export const STAGING = { ...PRODUCTION, baseUrl: "https://staging.example" };

/** The error of a keyset that is not opened. */
export const refusedWith = (detail: string) => ({
  code: "temporarily_unavailable",
  extras: { reason: "keys_unavailable" },
  detail: expect.stringContaining(detail) as string,
});

export interface KeysetFixture {
  /** The test's own folder. */
  readonly folder: string;
  /** One key of the key service that both places may use. */
  readonly wrapper: LocalKeyWrapper;
}

interface Floor {
  readonly file?: string;
  readonly minimum?: number;
}

export interface FloorCase {
  readonly name: string;
  floorOf(fixture: KeysetFixture): Floor;
}

export const FLOORS: readonly FloorCase[] = [
  { name: "a file beside the key", floorOf: ({ folder }) => ({ file: join(folder, "key.revision") }) },
  { name: "the configuration", floorOf: () => ({ minimum: 2 }) },
];

/** Created again for each test of the file that calls it. */
export function keysetFixture(): KeysetFixture {
  const fixture = { folder: "", wrapper: undefined as unknown as LocalKeyWrapper };
  beforeEach(() => {
    fixture.folder = temporaryFolder();
    fixture.wrapper = localKeyWrapper({ path: join(fixture.folder, "key") });
  });
  return fixture;
}

export function newStore(): RecordStore {
  return memoryRecordStore({ now });
}

/** As a process starts: nothing read yet. */
export function keysetOn(
  records: RecordStore,
  { wrapper }: KeysetFixture,
  { place = PRODUCTION, ...floor }: Floor & { readonly place?: typeof PRODUCTION } = {},
): Keyset {
  const storage = recordKeysetStorage({ records, place, wrapper, otherwise: "another key" });
  return createKeyset({ storage, floor: createRevisionFloor(floor), now });
}

/** @returns keysets on one key file, by base_url */
export function keysetsInFile(path: string): (baseUrl: string) => Keyset {
  return (baseUrl) => createKeyset({ storage: fileKeysetStorage({ path, baseUrl }), now });
}

export async function dataIn(records: RecordStore): Promise<JsonObject> {
  return (await records.get(KEYSET))!.data;
}

/** What an attacker with write access to the table can do. */
export async function putInto(records: RecordStore, data: JsonObject): Promise<void> {
  await records.delete(KEYSET);
  await records.create({ key: KEYSET, stage: "put back", data, expiresAt: 9_000_000_000 });
}

/** Puts staging's record into production's store, with changes to the place it claims. */
export async function stagingInProduction(
  fixture: KeysetFixture,
  change: Partial<JsonObject> = {},
): Promise<{ readonly ours: Keyset; readonly staging: Keyset }> {
  const [stagingStore, store] = [newStore(), newStore()];
  const staging = keysetOn(stagingStore, fixture, { place: STAGING });
  await staging.load();
  await putInto(store, { ...(await dataIn(stagingStore)), ...change } as JsonObject);
  return { ours: keysetOn(store, fixture), staging };
}

/** Puts the record from before a rotation back after it. */
export async function rotatedAndPutBack(fixture: KeysetFixture, { file }: Floor): Promise<RecordStore> {
  const records = newStore();
  const first = keysetOn(records, fixture, file === undefined ? {} : { file });
  await first.load();
  const old = await dataIn(records);
  await first.rotate();
  await putInto(records, old);
  return records;
}
