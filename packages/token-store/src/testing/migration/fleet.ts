/**
 * The processes at work while a table is migrated, and their conventions: the tokens of a user's
 * n-th write, the users of each process, and the report of a process when it ends.
 * older-build.ts and server.ts are the processes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Secret } from "@oauth-broker/oauth-core";
import type { TokenKey, TokenSet } from "../../tokens/tokens.ts";

export const VENDOR = "example";
export const ISSUER = "https://issuer.example";
/** Part of every secret of the test, so that a scan of the raw items can find it. */
export const CANARY = "canary";
const EXPIRES_AT = 4_000_000_000;

/** Users by number, from inclusive to exclusive. */
export interface Users {
  readonly from: number;
  readonly to: number;
}

export interface FleetUsers {
  /** Written by older builds continuously, with PutItem and with UpdateItem. */
  readonly older: Users;
  /** Written by servers of this build: the first server's, the second server's. */
  readonly servers: readonly Users[];
  /** Written by all of them at the same time. */
  readonly contended: Users;
}

/** @param scale 1: 1,650 users, the first of the table */
export function fleetUsers(scale: number): FleetUsers {
  const users = (from: number, to: number): Users => ({ from: from * scale, to: to * scale });
  return { older: users(0, 800), servers: [users(800, 1200), users(1200, 1600)], contended: users(1600, 1650) };
}

/** Numbers in [0, 1), the same in every run. Mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const userOf = (index: number): string => `user-${index}`;
export const keyOf = (index: number): TokenKey => ({ user: userOf(index), vendor: VENDOR, issuer: ISSUER });

/** `by` and `write` distinguish two writes; the number alone does if one process writes. */
export interface Write {
  readonly by: string;
  readonly write: number;
}

const secretText = (kind: string, index: number, { by, write }: Write): string =>
  `${CANARY}-${kind}-${index}-${by}-${write}`;

export function writeIn(accessToken: string | undefined): Write | undefined {
  const found = /^canary-at-\d+-([a-z0-9]+)-(\d+)$/.exec(accessToken ?? "");
  return found === null ? undefined : { by: found[1] ?? "", write: Number(found[2]) };
}

export function tokensOf(index: number, write: Write): TokenSet {
  return {
    accessToken: new Secret(secretText("at", index, write)),
    refreshToken: new Secret(secretText("rt", index, write)),
    ...(index % 3 === 0 ? { idToken: new Secret(secretText("id", index, write)) } : {}),
    tokenType: "Bearer",
    scope: "a b",
    expiresAt: EXPIRES_AT,
  };
}

/** A row as DynamoDB JSON, as older builds write it. */
export function olderItem(index: number, write: Write): Record<string, { S: string } | { N: string }> {
  const { accessToken, refreshToken, idToken } = tokensOf(index, write);
  return {
    pk: { S: `USER#${userOf(index)}` },
    sk: { S: `VENDOR#${VENDOR}` },
    access_token: { S: accessToken.reveal() },
    ...(refreshToken === undefined ? {} : { refresh_token: { S: refreshToken.reveal() } }),
    ...(idToken === undefined ? {} : { id_token: { S: idToken.reveal() } }),
    token_type: { S: "Bearer" },
    scope: { S: "a b" },
    expires_at: { N: String(EXPIRES_AT) },
    updated_at: { N: String(1_700_000_000 + write.write) },
  };
}

export interface FleetSettings {
  readonly table: string;
  readonly region: string;
  readonly dynamoDb: string;
  readonly kms: string;
  readonly keyId: string;
  readonly seed: number;
  readonly users: FleetUsers;
  readonly mode: "bridge" | "encrypted";
  /** Which server it is, from 0. */
  readonly server: number;
  /** The last write of each of its users, from before. */
  readonly last: readonly (readonly [index: number, write: number])[];
}

/** The report of a process that is stopped. */
export interface FleetReport {
  /** The last write of each user that was acknowledged. */
  readonly last: readonly (readonly [index: number, write: number])[];
  readonly reads: number;
  readonly writes: number;
  /** Violations: a lost token, or one that is older than before. */
  readonly problems: readonly string[];
}

/**
 * Runs steps until the message `stop` is received, then answers with the report.
 *
 * @param perSecond limits the load, so that the tested process gets its share of two cores
 */
export async function workUntilStopped(
  step: () => Promise<void>,
  report: () => FleetReport,
  perSecond: number,
): Promise<void> {
  const stop = new AbortController();
  process.once("message", () => stop.abort());
  process.send?.("ready");
  while (!stop.signal.aborted) {
    await step();
    await sleep(1000 / perSecond);
  }
  process.send?.(report());
  // The process ends by itself after the report is sent and its connections are closed.
  process.channel?.unref();
}
