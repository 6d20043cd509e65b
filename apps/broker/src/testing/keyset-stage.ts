/** A keyset in a store at two places under one key, for what an attacker does who can write the store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { LocalKeyWrapper } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { afterEach, beforeEach, vi } from "vitest";
import type { Keyset } from "../keys/keyset.ts";

export const now = fixedClock(1_700_000_000);
const KEYSET = { kind: "keyset", id: "broker" };
export const PRODUCTION = { baseUrl: "https://broker.example", environment: "eu-west-1", table: "broker" };
export const STAGING = { ...PRODUCTION, baseUrl: "https://staging.example" };

export interface KeysetStage {
  /** Of this test alone. */
  readonly folder: string;
  /** One key of the key service that may be used at both places. */
  readonly wrapper: LocalKeyWrapper;
}

interface Floor {
  readonly file?: string;
  readonly minimum?: number;
}

export interface FloorCase {
  readonly name: string;
  floorOf(stage: KeysetStage): Floor;
}

export const FLOORS: readonly FloorCase[] = [
  { name: "a file beside the key", floorOf: ({ folder }) => ({ file: join(folder, "key.revision") }) },
  { name: "the configuration", floorOf: () => ({ minimum: 2 }) },
];

/** Made anew for each test of the file that calls it, and with it the modules that are tested. */
export function keysetStage(): KeysetStage {
  const stage = { folder: "", wrapper: undefined as unknown as LocalKeyWrapper };
  beforeEach(async () => {
    vi.resetModules();
    // Of the same modules as what is tested: errors are told apart by their class.
    const { localKeyWrapper } = await import("@oauth-broker/token-store");
    stage.folder = mkdtempSync(join(tmpdir(), "keyset-place-"));
    stage.wrapper = localKeyWrapper({ path: join(stage.folder, "key") });
  });
  afterEach(() => rmSync(stage.folder, { recursive: true }));
  return stage;
}

export function newStore(): RecordStore {
  return memoryRecordStore({ now });
}

/** As a process starts: nothing read yet. */
export async function keysetOn(
  records: RecordStore,
  { wrapper }: KeysetStage,
  { place = PRODUCTION, ...floor }: Floor & { readonly place?: typeof PRODUCTION } = {},
): Promise<Keyset> {
  const [{ createKeyset }, { recordKeysetStorage }, { createRevisionFloor }] = await Promise.all([
    import("../keys/keyset.ts"),
    import("../keys/keyset-storage.ts"),
    import("../keys/keyset-floor.ts"),
  ]);
  const storage = recordKeysetStorage({ records, place, wrapper, otherwise: "another key" });
  return createKeyset({ storage, floor: createRevisionFloor(floor), now });
}

/** @returns keysets on one key file, by base_url */
export async function keysetsInFile(path: string): Promise<(baseUrl: string) => Keyset> {
  const [{ createKeyset }, { fileKeysetStorage }] = await Promise.all([
    import("../keys/keyset.ts"),
    import("../keys/keyset-storage.ts"),
  ]);
  return (baseUrl) => createKeyset({ storage: fileKeysetStorage({ path, baseUrl }), now });
}

export async function dataIn(records: RecordStore): Promise<JsonObject> {
  return (await records.get(KEYSET))!.data;
}

/** What an attacker does who can write the table. */
export async function putInto(records: RecordStore, data: JsonObject): Promise<void> {
  await records.delete(KEYSET);
  await records.create({ key: KEYSET, stage: "put back", data, expiresAt: 9_000_000_000 });
}

/** Staging's record in production's store, with changes to what it says of itself. */
export async function stagingInProduction(
  stage: KeysetStage,
  change: Partial<JsonObject> = {},
): Promise<{ readonly ours: Keyset; readonly staging: Keyset }> {
  const [stagingStore, store] = [newStore(), newStore()];
  const staging = await keysetOn(stagingStore, stage, { place: STAGING });
  await staging.load();
  await putInto(store, { ...(await dataIn(stagingStore)), ...change } as JsonObject);
  return { ours: await keysetOn(store, stage), staging };
}

/** The record of before a rotation, put back after it. */
export async function rotatedAndPutBack(stage: KeysetStage, { file }: Floor): Promise<RecordStore> {
  const records = newStore();
  const first = await keysetOn(records, stage, file === undefined ? {} : { file });
  await first.load();
  const old = await dataIn(records);
  await first.rotate();
  await putInto(records, old);
  return records;
}
