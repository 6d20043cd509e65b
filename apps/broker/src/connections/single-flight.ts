/**
 * Makes one vendor call of equal refreshes, in this process and across processes on one store
 * (bar#RF-1). A record is the lease. The process that creates it calls the vendor and stores the
 * answer in it, sealed under a key derived from the presented refresh token; the other processes
 * read it. An expired lease (its process crashed) may be taken over.
 */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createSharedCalls,
  type EpochSeconds,
  type JsonObject,
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorOptions,
  type RecordKey,
  type RecordStore,
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
/** A vendor operation ends before its lease does; the margin covers the store and clock skew. */
const LEASE_SECONDS = VENDOR_OPERATION_SECONDS + 10;
const POLL_MS = 50;
const MAX_POLLS = 300;
/** Between two attempts to end a lease that the store has left behind. */
const RELEASE_MS = 500;

/** The content of the record once the vendor has answered. */
type Settled =
  | { readonly ok: true; readonly answer: VendorTokens; readonly at: EpochSeconds }
  | {
      readonly ok: false;
      readonly code: OAuthErrorCode;
      readonly description: string;
      readonly options: OAuthErrorOptions;
    };

interface SingleFlightDeps extends Pick<Deps, "records" | "now"> {
  /** Called for each answer that came without a vendor call of its own. */
  readonly onReplay?: () => void;
}

/** Length-prefixed, so that two different lists of parts never give the same id. */
export function singleFlightId(parts: readonly string[]): string {
  return hash("sha256", parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(""), "base64url");
}

export function createSingleFlight(deps: SingleFlightDeps): SingleFlight {
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
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const expiresAt = now() + LEASE_SECONDS;
    const lease = { key, stage: "calling", data: { v: 1, holder }, expiresAt };
    const leading = await takenOrReleased(records.create(lease), key, holder, deps);
    if (leading === "created") return lead(key, holder, secret, call, deps);
    const settled = await settledRecord(key, secret, records);
    if (settled !== undefined && isForLatecomers(settled.settled, poll > 0)) {
      deps.onReplay?.();
      return aged(outcomeOf(settled.settled), settled.settled, now());
    }
    if (settled !== undefined) {
      const takingOver = takeOver(key, settled.holder, holder, expiresAt, records);
      if (await takenOrReleased(takingOver, key, holder, deps)) return lead(key, holder, secret, call, deps);
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

/** Deletes exactly the failure that was read, not a result stored since. */
async function takeOver(
  key: RecordKey,
  failed: string,
  holder: string,
  expiresAt: EpochSeconds,
  records: RecordStore,
): Promise<boolean> {
  const { outcome } = await records.advance(
    key,
    { stage: "settled", expect: { holder: failed } },
    { stage: "calling", set: { holder }, remove: ["sealed"], expiresAt },
  );
  return outcome === "moved";
}

/**
 * The caller gets its own outcome in any case: losing a rotated token would be worse than a missing
 * replay.
 */
async function lead(
  key: RecordKey,
  holder: string,
  secret: string,
  call: () => Promise<VendorTokens>,
  deps: SingleFlightDeps,
): Promise<VendorTokens> {
  try {
    const answer = await call();
    // If the answer cannot be stored the lease stays: the waiting callers would otherwise call the
    // vendor with a token that is already spent.
    await settle(key, holder, { ok: true, answer, at: deps.now() }, secret, deps).catch(() => undefined);
    return answer;
  } catch (error) {
    // The error itself, with cause and detail, goes on to the log; the record keeps only what a
    // response may contain.
    const known = toOAuthError(error);
    await settle(key, holder, failure(known), secret, deps)
      .catch(() => release(key, holder, deps))
      .catch(() => void releaseLater(key, holder, deps));
    throw known;
  }
}

/**
 * Writes only into the lease that this call took. A call that lost its lease must not overwrite the
 * result of the new holder.
 */
//= bar#RF-1
async function settle(
  key: RecordKey,
  holder: string,
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

/** Ends this call's own lease and no other's. */
async function release(key: RecordKey, holder: string, { records, now }: SingleFlightDeps): Promise<void> {
  const from = { stage: "calling", expect: { holder } };
  await records.advance(key, from, { stage: "released", set: {}, expiresAt: now() });
}

/** A write that takes a lease may have been made although its answer is lost. */
async function takenOrReleased<T>(
  taking: Promise<T>,
  key: RecordKey,
  holder: string,
  deps: SingleFlightDeps,
): Promise<T> {
  return taking.catch((error: unknown) => {
    void releaseLater(key, holder, deps);
    throw error;
  });
}

/**
 * As soon as the store answers: a lease without a call would keep every client waiting until it
 * expires.
 */
async function releaseLater(key: RecordKey, holder: string, deps: SingleFlightDeps): Promise<void> {
  for (let waitedMs = 0; waitedMs < LEASE_SECONDS * 1000; waitedMs += RELEASE_MS) {
    await sleep(RELEASE_MS, undefined, { ref: false });
    const isReleased = await release(key, holder, deps).then(
      () => true,
      () => false,
    );
    if (isReleased) return;
  }
}

/** An answer is not replayed after its token has expired. */
function keepSeconds(settled: Settled): number {
  if (settled.ok) return Math.min(settled.answer.expiresInSeconds ?? REPLAY_SECONDS, REPLAY_SECONDS);
  return Math.min(settled.options.retryAfterSeconds ?? FAILURE_SECONDS, REPLAY_SECONDS);
}

async function settledRecord(
  key: RecordKey,
  secret: string,
  records: RecordStore,
): Promise<{ readonly settled: Settled; readonly holder: string } | undefined> {
  const record = await records.get(key);
  if (record?.stage !== "settled") return undefined;
  const { sealed, holder } = record.data;
  if (typeof sealed !== "string" || typeof holder !== "string") return undefined;
  const text = open(replayKey(secret), sealed, ["refresh", key.id]).toString("utf8");
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
