/**
 * Refreshing on a table: rows in memory that can fail, a vendor of a chosen model in this process,
 * virtual time, and any number of "processes" (createRefreshLeases). For the tests of refresh/.
 */
import { OAuthError, Secret } from "@oauth-broker/oauth-core";
import { expect } from "vitest";
import { createModel, type ModelOptions, type ModelState } from "@oauth-broker/simulators/refresh-models";
import type { JournalEvent } from "../../refresh/journal.ts";
import { encrypted } from "../../modes/encrypted.ts";
import type { Mode } from "../../tokens/mode.ts";
import type { Refresh, RefreshEvent } from "../../refresh/context.ts";
import { createRefreshLeases, type RefreshLeases, type RefreshLeasesOptions } from "../../refresh/refresh.ts";
import { createTokenRecords } from "../../tokens/row-records.ts";
import { memoryTokenRows } from "../../storage/memory/token-rows.ts";
import type { Attributes, RowChange, TokenRows } from "../../storage/token-rows.ts";
import { rowKeyOf } from "../../tokens/token-attributes.ts";
import type { TokenRecords } from "../../tokens/token-records.ts";
import type { StoredTokens, TokenKey, TokenSet } from "../../tokens/tokens.ts";
import { fakeDataKeys } from "../rows/fake-data-keys.ts";
import { type VirtualTime, virtualTime } from "./time.ts";

export const START = 1_700_000_000;
export const KEY: TokenKey = { user: "u1", vendor: "example", issuer: "https://issuer.example" };
export const ROW = rowKeyOf(KEY);
/** The lifetime of an access token, unless a test overrides it. */
export const LIFE_SECONDS = 3600;
/** An age at which the token of every record is due. */
export const DUE = LIFE_SECONDS - 65;

/** Called before each write; throwing prevents it, `lose` executes it and then throws. */
export interface RowFaults {
  read?: (() => void) | undefined;
  write?: ((change: RowChange) => void | "lose") | undefined;
  /** After each write, before its result. */
  written?: (() => Promise<void>) | undefined;
}

export interface Fixture {
  readonly time: VirtualTime;
  readonly rows: TokenRows;
  readonly faults: RowFaults;
  /** Calls of the table. */
  readonly counts: { reads: number; writes: number };
  readonly keys: ReturnType<typeof fakeDataKeys>;
  readonly records: TokenRecords;
  readonly vendor: ModelState;
  /** In the order they were reported, of all processes. */
  readonly events: (RefreshEvent | JournalEvent)[];
  /** The refresh tokens sent to the vendor. */
  readonly asked: string[];
  /** What the vendor does in addition, in this order. */
  readonly at: { before?: (() => unknown) | undefined; after?: (() => unknown) | undefined };
  readonly refresh: Refresh;
  process(options?: RefreshLeasesOptions & { readonly clockOffset?: number }): RefreshLeases;
  /** A new authorization by the user. */
  link(): Promise<TokenSet>;
  attributes(): Promise<Attributes>;
  /** Names of the events, with the reason after a colon. */
  names(): string[];
}

export function refreshFixture(options: Partial<ModelOptions> = {}, mode: Mode = encrypted): Fixture {
  const time = virtualTime(START);
  const { now, timer } = time;
  const faults: RowFaults = {};
  const inner = memoryTokenRows({ table: "tokens" });
  const counts = { reads: 0, writes: 0 };
  const rows = withFaults(inner, faults, counts);
  const keys = fakeDataKeys();
  const records = createTokenRecords({ rows, dataKeys: keys, mode, environment: "test", now });
  const vendor = createModel({ model: "strict", accessTokenSeconds: LIFE_SECONDS, ...options, now });
  const events: (RefreshEvent | JournalEvent)[] = [];
  const asked: string[] = [];
  const at: Fixture["at"] = {};

  const refresh: Refresh = async ({ refreshToken }) => {
    asked.push(refreshToken.reveal());
    await at.before?.();
    const answer = vendor.refresh(refreshToken.reveal());
    await at.after?.();
    if (answer === "refused") throw new OAuthError("invalid_grant", "The vendor refused the grant");
    return toTokens(answer, now());
  };

  return {
    time,
    rows,
    faults,
    counts,
    keys,
    records,
    vendor,
    events,
    asked,
    at,
    refresh,
    process: ({ clockOffset = 0, ...rest } = {}) => {
      const shifted = (): number => now() + clockOffset;
      const own = createTokenRecords({ rows, dataKeys: keys, mode, environment: "test", now: shifted });
      const onEvent = (event: RefreshEvent | JournalEvent): void => void events.push(event);
      return createRefreshLeases(rest, { records: own, now: shifted, timer, onEvent });
    },
    link: async () => {
      const tokens = toTokens(vendor.authorize(KEY.user), now());
      await records.replace(KEY, tokens);
      return tokens;
    },
    attributes: async () => (await inner.get(ROW))?.attributes ?? {},
    names: () =>
      events.map((event) => {
        const { name } = event;
        return "reason" in event ? `${name}: ${event.reason}` : name;
      }),
  };
}

/** With a linked user, whose tokens have this age. */
export async function agedFixture(seconds: number, options: Partial<ModelOptions> = {}, mode?: Mode): Promise<Fixture> {
  const fixture = refreshFixture(options, mode);
  await fixture.link();
  fixture.time.advance(seconds);
  return fixture;
}

/** With a linked user whose access token has just expired. */
export function dueFixture(options: Partial<ModelOptions> = {}, mode?: Mode): Promise<Fixture> {
  return agedFixture(LIFE_SECONDS, options, mode);
}

/** With so many users whose access tokens expire at once. */
export async function dueUsers(count: number): Promise<{ readonly fixture: Fixture; readonly keys: TokenKey[] }> {
  const fixture = refreshFixture();
  const { records, vendor, time } = fixture;
  const keys = Array.from({ length: count }, (_, at) => ({ ...KEY, user: `user ${at}` }));
  for (const key of keys) await records.replace(key, toTokens(vendor.authorize(key.user), time.now()));
  time.advance(LIFE_SECONDS);
  return { fixture, keys };
}

/** The vendor's answer is in the journal, and the process that got it has died. */
export async function dieWithAnswer(fixture: Fixture, journalFolder: string): Promise<void> {
  const up = storeDown(fixture);
  const dying = fixture.process({ journalFolder, times: { commitMs: 0 } });
  await expect(fresh(fixture, dying)).rejects.toMatchObject({ code: "temporarily_unavailable" });
  await dying.drain(0);
  up();
}

/** One call, as a server makes it. */
export function fresh(fixture: Fixture, leases: RefreshLeases): Promise<StoredTokens | undefined> {
  return leases.withRefreshLease(KEY, fixture.refresh);
}

/** One call, as a server makes it, and the access token that comes of it. */
export async function freshToken(fixture: Fixture, leases: RefreshLeases): Promise<string | undefined> {
  return tokenOf(await fresh(fixture, leases));
}

/** A lease of a process that has died. */
export async function foreignLease({ records, time }: Fixture, seconds: number): Promise<void> {
  const lease = { owner: "other", until: time.now() + seconds, attemptId: "other" };
  await records.note((await records.read(KEY))!, { lease });
}

/** What a caller gets once only a new authorization by the user helps. */
export const REAUTHORIZE = { code: "invalid_grant", extras: { reason: "reauthorization_required" } };

/** @returns the error of `fresh`, or what it found */
export function refusal(fixture: Fixture, leases: RefreshLeases): Promise<unknown> {
  return fresh(fixture, leases).catch((error: unknown) => error);
}

/**
 * The vendor has rotated, its response is lost, and so is the process: only an expired lease is
 * left.
 */
export async function crash({ records, time, vendor }: Fixture): Promise<void> {
  const over = (await records.read(KEY))!;
  await records.note(over, { lease: { owner: "dead", until: time.now() + 30, attemptId: "dead" } });
  vendor.refresh(over.stored.tokens.refreshToken!.reveal());
  time.advance(30);
}

export function tokenOf(stored: StoredTokens | undefined): string | undefined {
  return stored?.tokens.accessToken.reveal();
}

/** The access token the vendor issued last. */
export function newest({ vendor }: Fixture): string | undefined {
  return vendor.live(KEY.user).accessTokens.at(-1);
}

export function isCommit({ set }: RowChange): boolean {
  return Object.hasOwn(set, "written_at");
}

/** Every commit fails until the returned function is called. */
export function storeDown({ faults }: Fixture): () => void {
  faults.write = (change) => {
    if (isCommit(change)) throw outage();
  };
  return () => {
    faults.write = undefined;
  };
}

function toTokens(
  answer: { readonly accessToken: string; readonly refreshToken?: string; readonly expiresInSeconds: number },
  now: number,
): TokenSet {
  const { accessToken, refreshToken, expiresInSeconds } = answer;
  return {
    accessToken: new Secret(accessToken),
    ...(refreshToken === undefined ? {} : { refreshToken: new Secret(refreshToken) }),
    tokenType: "Bearer",
    expiresAt: now + expiresInSeconds,
  };
}

export function outage(reason = "store_unavailable"): OAuthError {
  return new OAuthError("temporarily_unavailable", "Down", { reason });
}

function withFaults(rows: TokenRows, faults: RowFaults, counts: Fixture["counts"]): TokenRows {
  return {
    ...rows,
    get: async (key) => {
      counts.reads += 1;
      faults.read?.();
      return rows.get(key);
    },
    change: async (key, change, expected) => {
      counts.writes += 1;
      const fault = faults.write?.(change);
      const result = await rows.change(key, change, expected);
      await faults.written?.();
      if (fault === "lose") throw outage();
      return result;
    },
  };
}
