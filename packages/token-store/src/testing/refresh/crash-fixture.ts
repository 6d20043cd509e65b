/**
 * The fixture of the crash matrix: an engine with a table, a vendor of each model, connections
 * whose token has expired, a process that starts after the crash, and the four invariants that hold
 * after it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import { type DynamoDbEngine, startDynamoDb } from "@oauth-broker/simulators/aws";
import { type RefreshModel, type RefreshVendor, startRefreshVendor } from "@oauth-broker/simulators/refresh-models";
import { expect } from "vitest";
import type { JournalEvent } from "../../refresh/journal.ts";
import type { RefreshEvent } from "../../refresh/context.ts";
import { createRefreshLeases } from "../../refresh/refresh.ts";
import type { RefreshTimes } from "../../refresh/times.ts";
import { PATIENT } from "../aws/deadline.ts";
import { answerOf, compose, keyOf, type RefreshSettings } from "./child.ts";
import { killRefreshChildren, type RefreshChild, startRefreshChild } from "./children.ts";

/** Small, so that a round takes seconds. The clock has whole seconds. */
export const TIMES: Partial<RefreshTimes> = {
  skewSeconds: 0,
  leaseSeconds: 6,
  vendorTimeoutMs: 2500,
  storeBudgetMs: 500,
  waitMs: 12_000,
  commitMs: 15_000,
};

export interface CrashFixture {
  readonly engine: DynamoDbEngine;
  /** One connection, its access token expired, at a vendor of this model. */
  round(model: RefreshModel, options?: RoundOptions): Promise<Round>;
  close(): Promise<void>;
}

export interface RoundOptions {
  readonly times?: Partial<RefreshTimes>;
  /** In front of the engine, for the child processes, which have the deadlines of production there. */
  readonly endpoint?: string;
}

export interface Round {
  readonly model: RefreshModel;
  readonly user: string;
  readonly vendor: RefreshVendor;
  start(options?: { readonly clockOffset?: number }): Promise<RefreshChild>;
  /** A caller in this process: what other callers see after the crash. */
  next(): Promise<string>;
  /** The events of this process. */
  readonly events: readonly (RefreshEvent | JournalEvent)[];
  version(): Promise<number | undefined>;
  /** Whether callers wait for a lease to end. */
  isLeased(): Promise<boolean>;
  /** The four invariants. */
  expectSound(expected: Expected, ...children: readonly RefreshChild[]): Promise<void>;
}

export interface Expected {
  readonly commits: number;
  /** Commits of a process that was killed before it could report them. */
  readonly unreported?: number;
  /** How often the vendor may have been asked. */
  readonly calls: number;
  /** Why the user must authorize again; absent: not required. */
  readonly reauthorize?: string | undefined;
}

export async function startCrashFixture(): Promise<CrashFixture> {
  const engine = await startDynamoDb();
  const table = await engine.createTable();
  const folder = mkdtempSync(join(tmpdir(), "crash-"));
  const vendors = new Map<RefreshModel, Promise<RefreshVendor>>();
  const closing: (() => Promise<void>)[] = [];
  let users = 0;

  return {
    engine,
    round: async (model, { times = TIMES, endpoint } = {}) => {
      const starting = vendors.get(model) ?? startRefreshVendor({ model, graceSeconds: 120 });
      vendors.set(model, starting);
      const vendor = await starting;
      users += 1;
      const user = `user ${users}`;
      const settings: RefreshSettings = {
        ...(endpoint === undefined ? { endpoint: engine.endpoint, ...PATIENT } : { endpoint }),
        region: engine.region,
        table,
        keyFile: join(folder, "key"),
        vendor: { tokenEndpoint: vendor.tokenEndpoint, clientId: vendor.clientId, clientSecret: vendor.clientSecret },
        rotates: model !== "none" && model !== "same",
        times,
        journalFolder: join(folder, "journal"),
      };
      const own = compose({ ...settings, endpoint: engine.endpoint, ...PATIENT }, async () => undefined);
      closing.push(own.close);
      const events: (RefreshEvent | JournalEvent)[] = [];
      const deps = {
        ...own,
        timer: systemTimer,
        onEvent: (event: RefreshEvent | JournalEvent) => void events.push(event),
      };
      const leases = createRefreshLeases({ times }, deps);
      const { accessToken, refreshToken } = vendor.authorize(user);
      await own.records.replace(keyOf(user), {
        accessToken: new Secret(accessToken),
        refreshToken: new Secret(refreshToken),
        tokenType: "Bearer",
        expiresAt: own.now() - 1000,
      });
      return {
        model,
        user,
        vendor,
        events,
        start: (options = {}) => startRefreshChild({ ...settings, ...options }),
        next: () => leases.withRefreshLease(keyOf(user), own.refresh).then(answerOf, answerOf),
        isLeased: async () => (await own.records.read(keyOf(user)))?.lease !== undefined,
        version: async () => (await own.records.read(keyOf(user)))?.stored.version,
        expectSound: async ({ commits, unreported = 0, calls, reauthorize }, ...children) => {
          const all = [...events, ...children.flatMap((child) => child.events)];
          const about = `${model}: ${JSON.stringify(all)}`;
          // (1) It decrypts: read throws otherwise.
          const current = await own.records.read(keyOf(user));
          // (2) The version grew by the number of commits.
          const reported = all.filter(({ name }) => name === "refreshed").length;
          expect(reported + unreported, about).toBe(commits);
          expect(current?.stored.version, about).toBe(1 + commits);
          // (3) The vendor accepts our refresh token, or the row says that the user must authorize
          // again.
          const reasons = all.flatMap((event) => (event.name === "reauthorize" ? [event.reason] : []));
          expect(reasons, about).toEqual(reauthorize === undefined ? [] : [reauthorize]);
          expect(current?.stored.status, about).toBe(reauthorize === undefined ? "active" : "reauthorize");
          const live = vendor.live(user);
          if (reauthorize === undefined) {
            expect(live.refreshTokens, about).toContain(current?.stored.tokens.refreshToken?.reveal());
            expect(live.accessTokens, about).toContain(current?.stored.tokens.accessToken.reveal());
          }
          // (4) No more calls than allowed.
          expect(vendor.counts(user).presented, about).toBeLessThanOrEqual(calls);
          expect(current?.lease, about).toBeUndefined();
        },
      };
    },
    close: async () => {
      await killRefreshChildren();
      await Promise.all(closing.map((close) => close()));
      for (const vendor of vendors.values()) await (await vendor).close();
      await engine.close();
      rmSync(folder, { recursive: true });
    },
  };
}
