/**
 * Makes one vendor call of equal refreshes, in this process and across processes on one store
 * (bar#RF-1). A record is the lease. The process that creates it calls the vendor and stores the
 * answer in it, sealed under a key derived from the presented refresh token; the other processes
 * read it. An expired lease (its process crashed) may be taken over.
 */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Clock,
  createSharedCalls,
  type EpochSeconds,
  type JsonObject,
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorOptions,
  type RecordKey,
  type RecordStore,
  type StoredRecord,
  toOAuthError,
} from "@oauth-broker/oauth-core";
import { VENDOR_OPERATION_SECONDS } from "@oauth-broker/oauth-core/client";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";

export interface SingleFlight {
  /** @param secret what only equal callers present; the stored answer is sealed under it */
  run(id: string, secret: string, call: () => Promise<VendorTokens>): Promise<VendorTokens>;
}

/** A successful answer is replayed this long. */
const REPLAY_SECONDS = 60;
/** A failure without Retry-After is replayed only to callers already waiting. */
const FAILURE_SECONDS = 2;
/** How long the store may take to grant a lease. */
const TAKING_SECONDS = 5;
const SKEW_SECONDS = 5;
/** A vendor operation ends before its lease does. */
const LEASE_SECONDS = VENDOR_OPERATION_SECONDS + TAKING_SECONDS + SKEW_SECONDS;
const POLL_MS = 50;
/** How long a caller waits for another one's call. */
const WAIT_MS = 15_000;
/** Between two attempts to end a lease that the store left behind. */
const RELEASE_MS = 500;
const MOST_LEFT_BEHIND = 1_000;

/** The content of the record once the vendor has answered. */
type Settled =
  | { readonly ok: true; readonly answer: VendorTokens; readonly at: EpochSeconds }
  | {
      readonly ok: false;
      readonly code: OAuthErrorCode;
      readonly description: string;
      readonly options: OAuthErrorOptions;
    };

/** A record in the stage `calling`. */
export interface Lease {
  readonly key: RecordKey;
  /** Drawn at random for each caller. */
  readonly holder: string;
  readonly expiresAt: EpochSeconds;
}

interface SingleFlightOptions extends Pick<Deps, "records" | "now"> {
  /** Called for each answer that came without a vendor call of its own. */
  readonly onReplay?: () => void;
}

interface SingleFlightDeps extends SingleFlightOptions {
  readonly leftBehind: LeftBehind;
}

/** Length-prefixed, so that two different lists of parts never give the same id. */
export function singleFlightId(parts: readonly string[]): string {
  return hash("sha256", parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(""), "base64url");
}

export function createSingleFlight(options: SingleFlightOptions): SingleFlight {
  const deps = { ...options, leftBehind: createLeftBehind(options) };
  const running = createSharedCalls<VendorTokens>();
  return {
    run(id, secret, call) {
      if (running.find(id) !== undefined) deps.onReplay?.();
      return running.run(id, () => leadOrFollow({ kind: "refresh", id }, secret, call, deps));
    },
  };
}

async function leadOrFollow(
  key: RecordKey,
  secret: string,
  call: () => Promise<VendorTokens>,
  deps: SingleFlightDeps,
): Promise<VendorTokens> {
  const { records, now } = deps;
  const holder = randomToken(16);
  const startedMs = performance.now();
  for (let hasWaited = false; performance.now() - startedMs < WAIT_MS; hasWaited = true) {
    // A create that fails costs a write at some stores, so a caller that waits reads first.
    let record = hasWaited ? await records.get(key) : undefined;
    if (record === undefined) {
      const lease = newLease(key, holder, now);
      if (await isTaken(createLease(lease, records), lease, deps)) return lead(lease, secret, call, deps);
      record = await records.get(key);
    }
    const settled = settledIn(record, secret);
    if (settled !== undefined && isForLatecomers(settled.settled, hasWaited)) {
      deps.onReplay?.();
      return aged(outcomeOf(settled.settled), settled.settled, now());
    }
    if (settled !== undefined) {
      const next = newLease(key, holder, now);
      if (await isTaken(takeOver(next, settled.holder, records), next, deps)) return lead(next, secret, call, deps);
    }
    await sleep(POLL_MS);
  }
  throw new OAuthError("temporarily_unavailable", "Another refresh of this token is still running");
}

/**
 * Replays a failure to the callers that waited for it, and to others for as long as its own
 * Retry-After.
 */
function isForLatecomers(settled: Settled, hasWaited: boolean): boolean {
  return settled.ok || hasWaited || settled.options.retryAfterSeconds !== undefined;
}

function newLease(key: RecordKey, holder: string, now: Clock): Lease {
  return { key, holder, expiresAt: now() + LEASE_SECONDS };
}

async function createLease({ key, holder, expiresAt }: Lease, records: RecordStore): Promise<boolean> {
  return (await records.create({ key, stage: "calling", data: { v: 1, holder }, expiresAt })) === "created";
}

/** Replaces exactly the failure that was read, not a result stored since. */
async function takeOver({ key, holder, expiresAt }: Lease, failed: string, records: RecordStore): Promise<boolean> {
  const { outcome } = await records.advance(
    key,
    { stage: "settled", expect: { holder: failed } },
    { stage: "calling", set: { holder }, remove: ["sealed"], expiresAt },
  );
  return outcome === "moved";
}

/**
 * @returns false also for a lease that could end before the vendor answers, because the store was
 *   slow or this process was suspended: the vendor is not called under it
 */
//= bar#8.2-3
async function isTaken(taking: Promise<boolean>, lease: Lease, deps: SingleFlightDeps): Promise<boolean> {
  const taken = await taking.catch((error: unknown) => {
    // The write may have been made, although its answer is lost.
    deps.leftBehind.add(lease);
    throw error;
  });
  const hasTime = deps.now() + VENDOR_OPERATION_SECONDS + SKEW_SECONDS <= lease.expiresAt;
  if (taken && !hasTime) await endLease(lease, deps).catch(() => deps.leftBehind.add(lease));
  return taken && hasTime;
}

/**
 * The caller gets its own outcome in any case: losing a rotated token would be worse than a missing
 * replay.
 */
async function lead(
  lease: Lease,
  secret: string,
  call: () => Promise<VendorTokens>,
  deps: SingleFlightDeps,
): Promise<VendorTokens> {
  try {
    const answer = await call();
    // If the answer cannot be stored the lease stays: the waiting callers would otherwise call the
    // vendor with a token that is already spent.
    await settle(lease, { ok: true, answer, at: deps.now() }, secret, deps).catch(() => undefined);
    return answer;
  } catch (error) {
    // The error itself, with cause and detail, goes on to the log; the record keeps only what a
    // response may contain.
    const known = toOAuthError(error);
    await settle(lease, failure(known), secret, deps)
      .catch(() => endLease(lease, deps))
      .catch(() => deps.leftBehind.add(lease));
    throw known;
  }
}

/**
 * Writes only into the lease that this call took. A call that lost its lease must not overwrite the
 * result of the new holder.
 */
//= bar#RF-1
async function settle(
  { key, holder }: Lease,
  settled: Settled,
  secret: string,
  { records, now }: SingleFlightDeps,
): Promise<void> {
  await records.advance(
    key,
    { stage: "calling", expect: { holder } },
    { stage: "settled", set: sealSettled(settled, secret, key), expiresAt: now() + keepSeconds(settled) },
  );
}

/** An answer is not replayed after its token has expired. */
function keepSeconds(settled: Settled): number {
  if (settled.ok) return Math.min(settled.answer.expiresInSeconds ?? REPLAY_SECONDS, REPLAY_SECONDS);
  return Math.min(settled.options.retryAfterSeconds ?? FAILURE_SECONDS, REPLAY_SECONDS);
}

function settledIn(
  record: StoredRecord | undefined,
  secret: string,
): { readonly settled: Settled; readonly holder: string } | undefined {
  if (record?.stage !== "settled") return undefined;
  const { sealed, holder } = record.data;
  if (typeof sealed !== "string" || typeof holder !== "string") return undefined;
  const text = open(replayKey(secret), sealed, ["refresh", record.key.id]).toString("utf8");
  return { settled: JSON.parse(text) as Settled, holder };
}

function sealSettled(settled: Settled, secret: string, key: RecordKey): JsonObject {
  return { sealed: seal(replayKey(secret), JSON.stringify(settled), ["refresh", key.id]) };
}

function replayKey(secret: string): Buffer {
  return deriveKey(secret, "refresh-replay");
}

function failure(error: OAuthError): Settled {
  const { code, description, extras, retryAfterSeconds } = error;
  const options = retryAfterSeconds === undefined ? extras : { ...extras, retryAfterSeconds };
  return { ok: false, code, description, options };
}

function outcomeOf(settled: Settled): VendorTokens {
  if (settled.ok) return settled.answer;
  throw new OAuthError(settled.code, settled.description, settled.options);
}

/** The lifetime in a replay counts from the vendor's answer. */
function aged(answer: VendorTokens, settled: Settled, now: EpochSeconds): VendorTokens {
  if (!settled.ok || answer.expiresInSeconds === undefined) return answer;
  return { ...answer, expiresInSeconds: Math.max(1, answer.expiresInSeconds - (now - settled.at)) };
}

/**
 * Leases that the store left behind: the answer to taking one was lost, or it could not be ended.
 * Without a call they would keep every client waiting until they expire, so they are ended in the
 * background, as soon as the store answers.
 */
export interface LeftBehind {
  /** Beyond `MOST_LEFT_BEHIND` it is left to expire. One that reaches the store later still expires, too. */
  add(lease: Lease): void;
}

/** Ends this lease and no other's. */
async function endLease({ key, holder }: Lease, { records, now }: Pick<Deps, "records" | "now">): Promise<void> {
  const from = { stage: "calling", expect: { holder } };
  await records.advance(key, from, { stage: "released", set: {}, expiresAt: now() });
}

/** One per process: however many there are, a store that is away gets one request at a time. */
export function createLeftBehind(deps: Pick<Deps, "records" | "now">): LeftBehind {
  const leases = new Set<Lease>();
  let isRunning = false;

  const isOver = async (lease: Lease): Promise<boolean> => {
    if (deps.now() >= lease.expiresAt) return true;
    return endLease(lease, deps).then(
      () => true,
      () => false,
    );
  };
  const run = async (): Promise<void> => {
    while (leases.size > 0) {
      await sleep(RELEASE_MS, undefined, { ref: false });
      for (const lease of leases) {
        // Still away: it would not answer for the next one either.
        if (!(await isOver(lease))) break;
        leases.delete(lease);
      }
    }
    isRunning = false;
  };

  return {
    add: (lease) => {
      if (leases.size >= MOST_LEFT_BEHIND) return;
      leases.add(lease);
      if (isRunning) return;
      isRunning = true;
      void run();
    },
  };
}
