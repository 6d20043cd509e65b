/** When a set of tokens is due for a refresh. Pure; refresh.ts asks at every call. */
import { hash } from "node:crypto";
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import type { RefreshTimes } from "./times.ts";
import { rowId, type RowKey } from "../storage/token-rows.ts";
import type { StoredTokens } from "../tokens/tokens.ts";

/**
 * - `fresh`: return it.
 * - `ahead`: return it, and one caller refreshes it.
 * - `due`: refresh it first.
 */
export type Due = "fresh" | "ahead" | "due";

/**
 * Records that expire in the same second are refreshed over at least this many seconds, if their
 * lifetime permits.
 */
const SPREAD_SECONDS = 60;
const AHEAD_SHARE = 0.1;

export function refreshDue(
  stored: StoredTokens,
  row: RowKey,
  now: EpochSeconds,
  { times, refused }: { readonly times: RefreshTimes; readonly refused?: number | undefined },
): Due {
  if (refused !== undefined && stored.version <= refused) return "due";
  const { expiresAt, refreshToken } = stored.tokens;
  if (expiresAt === undefined) return "fresh";
  if (refreshToken === undefined) return isAlive(stored, now) ? "fresh" : "due";
  const { aheadAt, dueAt } = refreshMoments(stored, row, expiresAt, times);
  if (now >= dueAt) return "due";
  return now >= aheadAt ? "ahead" : "fresh";
}

/** Whether the access token may still be used: it has no expiry, or has not reached it. */
export function isAlive({ tokens: { expiresAt } }: StoredTokens, now: EpochSeconds): boolean {
  return expiresAt === undefined || now < expiresAt;
}

/**
 * From `aheadAt` on one caller refreshes, from `dueAt` on every caller waits for it. A token that
 * lives less than twice the usual margin counts as fresh for half of its lifetime: with the whole
 * margin it would be refreshed at every call.
 */
//= bar#8.2-1
export function refreshMoments(
  { writtenAt }: Pick<StoredTokens, "writtenAt">,
  row: RowKey,
  expiresAt: EpochSeconds,
  { skewSeconds, freshSeconds }: RefreshTimes,
): { readonly aheadAt: EpochSeconds; readonly dueAt: EpochSeconds } {
  const usualMargin = skewSeconds + freshSeconds;
  // An older writer may not have stored when.
  const life = writtenAt > 0 ? Math.max(0, expiresAt - writtenAt) : 2 * usualMargin;
  const half = Math.floor(life / 2);
  const margin = Math.min(usualMargin, half);
  const lead = Math.max(Math.floor(life * AHEAD_SHARE), margin + SPREAD_SECONDS);
  const [from, dueAt] = [expiresAt - Math.min(lead, Math.max(half, margin)), expiresAt - margin];
  return { aheadAt: from + Math.floor(fractionOf(row) * (dueAt - from)), dueAt };
}

/** 0 to just under 1, constant for a row and spread evenly over rows. */
function fractionOf(row: RowKey): number {
  return Number.parseInt(hash("sha256", rowId(row), "hex").slice(0, 8), 16) / 2 ** 32;
}
