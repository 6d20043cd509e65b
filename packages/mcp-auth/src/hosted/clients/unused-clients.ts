/**
 * Limits the registered clients that never got tokens: open registration accepts every caller, and
 * what is stored must stay bounded. Clients in use are not counted. Beyond the limit the oldest
 * unused client is deleted, and the new client is stored.
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
import { hmac, type RecordKey } from "@oauth-broker/oauth-core";
import { changeRecord } from "@oauth-broker/service";
import type { HostedDeps } from "../deps.ts";
import { forgetUnused, UNUSED_SECONDS } from "./registration.ts";

export type UnusedClientsDeps = Pick<HostedDeps, "records" | "serverKey" | "now">;

const MOST_UNUSED_CLIENTS = 10_000;
/** Each process is one writer. */
const ROUNDS = 200;
const RING = { stage: "taken", rounds: ROUNDS, busy: "Too many clients register at this moment: try again" };

/**
 * @param mostUnused for tests
 * @returns makes room for a client; throws OAuthError temporarily_unavailable
 */
export function createUnusedClients(
  deps: UnusedClientsDeps,
  mostUnused = MOST_UNUSED_CLIENTS,
): (clientId: string) => Promise<void> {
  // One at a time in this process: concurrent calls would only take the number from each other.
  let last: Promise<unknown> = Promise.resolve();
  const nextNumber = (): Promise<number> => {
    const number = last.then(() => takeNumber(deps));
    last = number.catch(() => undefined);
    return number;
  };
  //= bar#AS-12
  return async (clientId) => {
    const number = await nextNumber();
    await takeSlot(String(number % mostUnused), clientId, deps);
  };
}

async function takeNumber(deps: UnusedClientsDeps): Promise<number> {
  const { records, now } = deps;
  return changeRecord(await slotKey("next", deps), {
    ...RING,
    records,
    version: "next",
    decide: (data) => {
      const number = Number(data?.["next"] ?? 0);
      // Without a registration for the lifetime of an unused client the ring is empty, and starts
      // over.
      const expiresAt = now() + UNUSED_SECONDS;
      // As text, so that a write can be conditional on it.
      return { next: { data: { v: 1, next: String(number + 1) }, expiresAt }, result: number };
    },
  });
}

async function takeSlot(slot: string, clientId: string, deps: UnusedClientsDeps): Promise<void> {
  const { records, now } = deps;
  await changeRecord(await slotKey(slot, deps), {
    ...RING,
    records,
    version: "clientId",
    decide: async (data) => {
      const oldest = data?.["clientId"];
      if (typeof oldest === "string") await forgetUnused(oldest, { records, now });
      return { next: { data: { v: 1, clientId }, expiresAt: now() + UNUSED_SECONDS }, result: undefined };
    },
  });
}

/** @param slot its number, or `next` */
async function slotKey(slot: string, { serverKey }: Pick<UnusedClientsDeps, "serverKey">): Promise<RecordKey> {
  const key = await serverKey.derive("client-slots");
  return { kind: "client-slots", id: hmac("sha256", key, slot).toString("base64url") };
}
