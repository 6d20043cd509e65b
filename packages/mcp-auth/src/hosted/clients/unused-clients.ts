/**
 * Limits the registered clients that never got tokens: open registration accepts every caller, and
 * what is stored must stay bounded. Clients in use do not count. Beyond the limit the oldest unused
 * client is deleted, and the new one is stored.
 *
 * A ring of slots, so that nothing is searched: the n-th registration takes slot n modulo their
 * number, and the client in that slot, the oldest, is deleted if it is still unused. The record
 * `client-slots` `next` holds n, advanced by compare-and-set, so that no two registrations of any
 * number of processes share one. Called by registration.ts before it stores the client: if a
 * process dies in between, no client is outside the ring.
 *
 * The ids of these records are derived from the server key: with another server key, which makes
 * them unreadable, the slots are free again.
 */
import { type Clock, hmacSha256, OAuthError, type RecordKey, type RecordStore } from "@oauth-broker/oauth-core";
import type { ServerKey } from "../server-key.ts";
import { forgetUnused, UNUSED_SECONDS } from "./registration.ts";

export interface UnusedClients {
  /** @throws OAuthError temporarily_unavailable */
  makeRoom(clientId: string): Promise<void>;
}

export interface UnusedClientsDeps {
  readonly records: RecordStore;
  readonly serverKey: ServerKey;
  readonly now: Clock;
}

interface NextNumber {
  readonly v: 1;
  /** A whole number, as text, so that a write can be conditional on it. */
  readonly next: string;
}

interface Slot {
  readonly v: 1;
  readonly clientId: string;
}

const MOST_UNUSED_CLIENTS = 10_000;
/** Of any number of concurrent writers one succeeds, and each process is one writer. */
const TRIES = 200;

/** @param mostUnused for tests */
export function createUnusedClients(deps: UnusedClientsDeps, mostUnused = MOST_UNUSED_CLIENTS): UnusedClients {
  // One at a time in this process: concurrent calls would only take the number from each other.
  let last: Promise<unknown> = Promise.resolve();
  const nextNumber = (): Promise<number> => {
    const number = last.then(() => takeNumber(deps));
    last = number.catch(() => undefined);
    return number;
  };
  return {
    //= bar#AS-12
    makeRoom: async (clientId) => {
      const number = await nextNumber();
      await takeSlot(String(number % mostUnused), clientId, deps);
    },
  };
}

async function takeNumber(deps: UnusedClientsDeps): Promise<number> {
  const { records, now } = deps;
  const key = await slotKey("next", deps);
  for (let tries = 0; tries < TRIES; tries += 1) {
    // Without a registration for the lifetime of an unused client the ring is empty, and starts
    // over.
    const expiresAt = now() + UNUSED_SECONDS;
    const record = await records.get(key);
    if (record === undefined) {
      const first = { key, stage: "taken", data: { v: 1, next: "1" }, expiresAt };
      if ((await records.create(first)) === "created") return 0;
      continue;
    }
    const { next } = record.data as unknown as NextNumber;
    const taken = { stage: "taken", set: { next: String(Number(next) + 1) }, expiresAt };
    const { outcome } = await records.advance(key, { stage: "taken", expect: { next } }, taken);
    if (outcome === "moved") return Number(next);
  }
  throw contended("the number of the next slot");
}

async function takeSlot(slot: string, clientId: string, deps: UnusedClientsDeps): Promise<void> {
  const { records, now } = deps;
  const key = await slotKey(slot, deps);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const expiresAt = now() + UNUSED_SECONDS;
    const record = await records.get(key);
    if (record === undefined) {
      if ((await records.create({ key, stage: "taken", data: { v: 1, clientId }, expiresAt })) === "created") return;
      continue;
    }
    const { clientId: oldest } = record.data as unknown as Slot;
    await forgetUnused(oldest, { records, now });
    const taken = { stage: "taken", set: { clientId }, expiresAt };
    const { outcome } = await records.advance(key, { stage: "taken", expect: { clientId: oldest } }, taken);
    if (outcome === "moved") return;
  }
  throw contended("a slot");
}

/** @param slot its number, or `next` */
async function slotKey(slot: string, { serverKey }: Pick<UnusedClientsDeps, "serverKey">): Promise<RecordKey> {
  const key = await serverKey.derive("client-slots");
  return { kind: "client-slots", id: hmacSha256(key, slot).toString("base64url") };
}

function contended(what: string): OAuthError {
  return new OAuthError("temporarily_unavailable", "Too many clients register at this moment: try again", {
    detail: `${what} kept changing`,
  });
}
