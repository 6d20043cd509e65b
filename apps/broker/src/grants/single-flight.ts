/**
 * Makes one vendor call of equal refreshes, in this process and across processes on one store
 * (bar#RF-1). A record is the lease. The process that creates it calls the vendor and stores the
 * answer in it, sealed under a key derived from what equal callers present; the other processes
 * read it. An expired lease (its process crashed) may be taken over. A token that the vendor has
 * answered is not sent again for as long as an answer is replayed, even if the caller may not
 * have that answer, or it was not kept (docs/decisions/0063). A revocation takes the place of a
 * lease or an answer: what came of the token is then handed to no caller (bar#RV-4).
 */
import { hash } from "node:crypto";
import {
  type Advanced,
  createSharedCalls,
  type EpochSeconds,
  type JsonObject,
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorOptions,
  parseExactJson,
  type RecordKey,
  type StoredRecord,
  toOAuthError,
} from "@oauth-broker/oauth-core";
import { isSameText, randomToken } from "@oauth-broker/oauth-core/protocol";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";
import {
  createLease,
  createLeftBehind,
  endLease,
  isTaken,
  type Lease,
  type LeftBehind,
  newLease,
  takeOver,
} from "./refresh-lease.ts";
import { createReplayShare, type ReplayShare } from "./replay-share.ts";

export type SingleFlight = ReturnType<typeof createSingleFlight>;

/** What equal refreshes have in common. */
export interface EqualRefreshes {
  /** singleFlightId of everything but the client secret: one lease for one token. */
  readonly id: string;
  /** The answer takes its place in the store from this client's share. */
  readonly clientId: string;
  readonly refreshToken: string;
  /** The client's own secret at the vendor (BYOC): an answer goes only to callers that have it too. */
  readonly clientSecret: string | undefined;
  /** A scope that is named is part of the id. */
  readonly hasScope: boolean;
  /** The id of a refresh of this token without one: there a revocation of it is noted. */
  readonly revocationId: (token: string) => string;
  /** Revokes tokens that a caller will not get. */
  readonly discard: (tokens: VendorTokens) => Promise<unknown>;
}

/** A successful answer is replayed this long. */
const REPLAY_SECONDS = 60;
/** A failure without Retry-After is replayed only to callers already waiting. */
const FAILURE_SECONDS = 2;
/** Outlives every answer that was kept before it, also by a clock that is slow. */
const REVOKED_SECONDS = 2 * REPLAY_SECONDS;
/** In each round another caller has changed the record. */
const REVOKE_TRIES = 20;
const POLL_MS = 50;
/** How long a caller waits for another one's call. */
const WAIT_MS = 15_000;

/** The content of the record once the vendor has answered. */
type Settled =
  | { readonly ok: true; readonly answer: VendorTokens; readonly at: EpochSeconds }
  | {
      readonly ok: false;
      readonly code: OAuthErrorCode;
      readonly description: string;
      readonly options: OAuthErrorOptions;
    };

interface SingleFlightOptions extends Pick<Deps, "records" | "now" | "timer"> {
  /** Called for each response that needed no separate vendor call. */
  readonly onReplay?: () => void;
}

interface SingleFlightDeps extends SingleFlightOptions {
  readonly leftBehind: LeftBehind;
  readonly share: ReplayShare;
}

/** Length-prefixed, so that two different lists of parts never give the same id. */
export function singleFlightId(parts: readonly string[]): string {
  return hash("sha256", parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(""), "base64url");
}

export function createSingleFlight(options: SingleFlightOptions) {
  const { records, now, timer } = options;
  const leftBehind = createLeftBehind({ records, now, timer });
  const deps = { ...options, leftBehind, share: createReplayShare(now) };
  const running = createSharedCalls<VendorTokens>();
  return {
    /**
     * @throws OAuthError the call's own; temporarily_unavailable when the vendor has just answered
     *   this token, and this caller cannot have the answer
     */
    run(refresh: EqualRefreshes, call: () => Promise<VendorTokens>): Promise<VendorTokens> {
      const { id, clientSecret } = refresh;
      const equal = clientSecret === undefined ? id : singleFlightId([id, clientSecret]);
      if (running.find(equal) !== undefined) deps.onReplay?.();
      return running.run(equal, () => leadOrFollow(refresh, call, deps));
    },
    /**
     * For a token of either kind that the vendor has revoked. A refresh of it that is under way
     * ends as revoked, and a new refresh token that one of the last minute brought is revoked too.
     *
     * @throws OAuthError temporarily_unavailable
     */
    revoke: (refresh: EqualRefreshes) => noteRevocation(refresh, deps),
  };
}

async function leadOrFollow(
  refresh: EqualRefreshes,
  call: () => Promise<VendorTokens>,
  deps: SingleFlightDeps,
): Promise<VendorTokens> {
  const { records, now, timer } = deps;
  const key: RecordKey = { kind: "refresh", id: refresh.id };
  const holder = randomToken(16);
  const startedMs = timer.elapsedMs();
  for (let hasWaited = false; timer.elapsedMs() - startedMs < WAIT_MS; hasWaited = true) {
    // A create that fails costs a write at some stores, so a caller that waits reads first.
    let record = hasWaited ? await records.get(key) : undefined;
    if (record === undefined) {
      const lease = newLease(key, holder, now);
      if (await isTaken(createLease(lease, records), lease, deps)) return lead(lease, refresh, call, deps);
      record = await records.get(key);
    }
    if (record?.stage === REVOKED) throw revoked();
    const settled = settledIn(record, refresh);
    const mine = settled?.mine;
    const isEnded = mine?.ok === true && (await hasEnded(mine.answer, refresh, deps));
    if (mine !== undefined && !isEnded && isForLatecomers(mine, hasWaited)) {
      deps.onReplay?.();
      return aged(outcomeOf(mine), mine, now());
    }
    //= bar#RF-1
    if (settled?.isSpent === true && !isEnded) throw justRefreshed(settled.expiresAt - now());
    if (settled !== undefined) {
      const next = newLease(key, holder, now);
      if (await isTaken(takeOver(next, settled.holder, records), next, deps)) return lead(next, refresh, call, deps);
    }
    await timer.sleep(POLL_MS);
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

function justRefreshed(seconds: number): OAuthError {
  return new OAuthError("temporarily_unavailable", "This token has just been refreshed by another request", {
    reason: "just_refreshed",
    retryAfterSeconds: Math.max(1, seconds),
  });
}

/**
 * The caller gets its own outcome in any case: losing a rotated token would be worse than a missing
 * replay.
 */
async function lead(
  lease: Lease,
  refresh: EqualRefreshes,
  call: () => Promise<VendorTokens>,
  deps: SingleFlightDeps,
): Promise<VendorTokens> {
  let answer: VendorTokens;
  try {
    answer = await call();
  } catch (error) {
    // The error itself, with cause and detail, goes on to the log; the record keeps only what a
    // response may contain.
    const known = toOAuthError(error);
    await settle(lease, failure(known), refresh, deps)
      .catch(() => endLease(lease, deps))
      .catch(() => deps.leftBehind.add(lease));
    throw known;
  }
  // If the answer cannot be stored the lease stays: the waiting callers would otherwise call the
  // vendor with a token that is already spent.
  const settled = await settle(lease, { ok: true, answer, at: deps.now() }, refresh, deps).catch(() => undefined);
  // The lease would have been taken away, except if a scope gives it another id.
  const isLive = settled?.outcome === "moved" && !refresh.hasScope;
  //= bar#RV-4
  if (isLive || !(await areRevoked([refresh.refreshToken], refresh, deps).catch(() => false))) return answer;
  await refresh.discard(answer);
  throw revoked();
}

/**
 * Writes only into the lease that this call took. A call that lost its lease must not overwrite the
 * result of the new holder.
 */
//= bar#RF-1
async function settle(
  { key, holder }: Lease,
  settled: Settled,
  refresh: EqualRefreshes,
  { records, now, share }: SingleFlightDeps,
): Promise<Advanced> {
  return records.advance(
    key,
    { stage: "calling", expect: { holder } },
    {
      stage: "settled",
      set: { ok: settled.ok, ...sealSettled(settled, refresh, key, share) },
      expiresAt: now() + keepSeconds(settled),
    },
  );
}

const REVOKED = "revoked";

/** Called after the vendor has revoked the token, and so refuses every later refresh of it. */
async function noteRevocation(refresh: EqualRefreshes, deps: SingleFlightDeps): Promise<void> {
  const { records, now } = deps;
  const key: RecordKey = { kind: "refresh", id: refresh.revocationId(refresh.refreshToken) };
  const revocation = { stage: REVOKED, expiresAt: now() + REVOKED_SECONDS };
  for (let tries = 0; tries < REVOKE_TRIES; tries += 1) {
    if ((await records.create({ key, data: { v: 1 }, ...revocation })) === "created") return;
    const record = await records.get(key);
    if (record?.stage === REVOKED) return;
    const holder = record?.data["holder"];
    if (record === undefined || typeof holder !== "string") continue;
    const from = { stage: record.stage, expect: { holder } };
    const { outcome } = await records.advance(key, from, { ...revocation, set: {}, remove: ["sealed", "ok"] });
    if (outcome === "moved") return endSuccessor(settledIn(record, refresh)?.mine, refresh, deps);
  }
  throw new OAuthError("temporarily_unavailable", "The token is being refreshed: revoke it again");
}

/** A vendor may not know the token that was presented any more, and know the one that took its place. */
async function endSuccessor(
  settled: Settled | undefined,
  refresh: EqualRefreshes,
  deps: SingleFlightDeps,
): Promise<void> {
  if (settled?.ok !== true || !isRotated(settled.answer, refresh)) return;
  const { refreshToken = "" } = settled.answer;
  await refresh.discard(settled.answer);
  await noteRevocation({ ...refresh, refreshToken }, deps);
}

/**
 * Whether one of its tokens, or the one that was spent for it, was revoked after an answer was kept.
 *
 * @throws OAuthError invalid_grant if the token that was spent for it cannot be sent again
 */
async function hasEnded(answer: VendorTokens, refresh: EqualRefreshes, deps: SingleFlightDeps): Promise<boolean> {
  const { accessToken, refreshToken = accessToken } = answer;
  //= bar#RV-4
  if (!(await areRevoked([accessToken, refreshToken, refresh.refreshToken], refresh, deps))) return false;
  if (isRotated(answer, refresh)) throw revoked();
  return true;
}

async function areRevoked(
  tokens: readonly string[],
  { revocationId }: EqualRefreshes,
  { records }: SingleFlightDeps,
): Promise<boolean> {
  const ids = [...new Set(tokens.map(revocationId))];
  const found = await Promise.all(ids.map((id) => records.get({ kind: "refresh", id })));
  return found.some((record) => record?.stage === REVOKED);
}

function isRotated({ refreshToken }: VendorTokens, refresh: EqualRefreshes): boolean {
  return refreshToken !== undefined && !isSameText(refreshToken, refresh.refreshToken);
}

function revoked(): OAuthError {
  return new OAuthError("invalid_grant", "This token has been revoked: the user must authorize again");
}

/** An answer is not replayed after its token has expired. */
function keepSeconds(settled: Settled): number {
  if (settled.ok) return Math.min(settled.answer.expiresInSeconds ?? REPLAY_SECONDS, REPLAY_SECONDS);
  return Math.min(settled.options.retryAfterSeconds ?? FAILURE_SECONDS, REPLAY_SECONDS);
}

/** An outcome in the store, as far as this caller may know it. */
interface Found {
  readonly holder: string;
  readonly expiresAt: EpochSeconds;
  /** The vendor has answered the token, to any caller. A record of an earlier release counts as such. */
  readonly isSpent: boolean;
  /** Absent when it is another caller's, or was not kept. */
  readonly mine: Settled | undefined;
}

function settledIn(record: StoredRecord | undefined, refresh: EqualRefreshes): Found | undefined {
  if (record?.stage !== "settled") return undefined;
  const { key, expiresAt } = record;
  const { sealed, holder, ok } = record.data;
  if (typeof holder !== "string") return undefined;
  const mine = typeof sealed === "string" ? openSettled(sealed, refresh, key) : undefined;
  return { holder, expiresAt, mine, isSpent: mine?.ok ?? ok !== false };
}

/** @returns nothing when the answer is not kept */
function sealSettled(settled: Settled, refresh: EqualRefreshes, key: RecordKey, share: ReplayShare): JsonObject {
  const text = JSON.stringify(settled);
  if (!share.take(refresh.clientId, Buffer.byteLength(text))) return {};
  return { sealed: seal(replayKey(refresh), text, ["refresh", key.id]) };
}

/** @returns undefined when it was sealed for a caller with another secret */
function openSettled(sealed: string, refresh: EqualRefreshes, key: RecordKey): Settled | undefined {
  try {
    const text = open(replayKey(refresh), sealed, ["refresh", key.id]).toString("utf8");
    // Numbers in the vendor's response keep their digits.
    return parseExactJson(text) as unknown as Settled;
  } catch {
    return undefined;
  }
}

/** Without the client's own secret it is the key of earlier releases. */
function replayKey({ refreshToken, clientSecret }: EqualRefreshes): Buffer {
  if (clientSecret === undefined) return deriveKey(refreshToken, "refresh-replay");
  return deriveKey(`${refreshToken.length}:${refreshToken}${clientSecret}`, "refresh-replay-byoc");
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

/** The lifetime in a replay starts at the vendor's response. */
function aged(answer: VendorTokens, settled: Settled, now: EpochSeconds): VendorTokens {
  if (!settled.ok || answer.expiresInSeconds === undefined) return answer;
  return { ...answer, expiresInSeconds: Math.max(1, answer.expiresInSeconds - (now - settled.at)) };
}
