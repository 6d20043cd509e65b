/**
 * The twins of unused-clients.test.ts: with one defence off, a flood of registrations does its
 * damage.
 */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock, weaken } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import { testServerKey } from "../../testing/test-sessions.ts";
import * as registration from "./registration.ts";
import { createUnusedClients } from "./unused-clients.ts";

const METADATA = JSON.stringify({ redirect_uris: ["https://app.example/back"], client_name: "App" });
const MOST = 5;

/**
 * The first client gets tokens, then as many register as there are slots.
 *
 * @returns which of them are still known
 */
async function flood(forgetUnused: (clientId: string, records: RecordStore) => Promise<void>): Promise<boolean[]> {
  const now = fixedClock(1_700_000_000);
  const records = memoryRecordStore({ now });
  weaken(registration, () => ({ forgetUnused: (clientId) => forgetUnused(clientId, records) }));
  const { findRegistered, markUsed, registerClient } = registration;
  const makeRoom = createUnusedClients({ records, serverKey: testServerKey(now), now }, MOST);
  const ids: string[] = [];
  for (let index = 0; index < 2 * MOST; index += 1) {
    const { body } = await registerClient(METADATA, { hosts: [] }, { records, now, beforeStoring: makeRoom });
    const clientId = String((JSON.parse(String(body)) as Record<string, unknown>)["client_id"]);
    ids.push(clientId);
    if (index === 0) await markUsed({ clientId }, { records, now });
  }
  const found = ids.map(async (id) => (await findRegistered(id, { hosts: [] }, { records })) !== undefined);
  return Promise.all(found);
}

it("a client that has tokens is deleted, where its use is not checked (twin of bar#AS-12)", async () => {
  const known = await flood((id, records) => records.delete({ kind: "client", id }));
  expect(known[0]).toBe(false);
});

it("every client stays stored for a day, where none is deleted (twin of bar#AS-12)", async () => {
  const known = await flood(async () => {});
  expect(known).toEqual(Array.from({ length: 2 * MOST }, () => true));
});
