/** Sessions for tests: over any records, with a key in memory, and with the store calls counted. */
import { randomBytes } from "node:crypto";
import type { Clock, KeyWrapper, RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { authenticatedRecords, oneMacKey } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import type { IdentitySource } from "../hosted/records/identity-source.ts";
import {
  createServerKey,
  createServerRecords,
  type ServerKey,
  type ServerRecordsOptions,
} from "../hosted/records/server-key.ts";
import { createSignIns, type SignIns } from "../hosted/pages/sign-ins.ts";
import { createSessions, type Sessions } from "../hosted/sessions/sessions.ts";
import type { SessionPolicy } from "../settings.ts";
import { createSignInGeneration } from "../hosted/sessions/sign-in-generation.ts";
import { SESSIONS_OF_ONE } from "../hosted/link-policy/link-policy.ts";

export const NOW = 1_700_000_000;
export const AUDIENCE = "https://server.example/mcp";
export const SOURCE: IdentitySource = { vendor: "example", issuer: "https://issuer.example" };
/** A user and client, if a test does not care. */
export const WHO = { user: "T1:U1", clientId: "platform", scope: ["read", "write"] };
/** The request of a client for the scope it has. */
export const SAME = { clientId: "platform", scope: undefined };

export interface TestSessions {
  readonly sessions: Sessions;
  /** The table as stored. */
  readonly records: RecordStore;
  /** The same through the sessions: with MACs. */
  readonly authenticated: RecordStore;
  readonly serverKey: ServerKey;
  readonly clock: ReturnType<typeof fixedClock>;
  /** Calls of the store so far. */
  calls(): number;
  /** Makes every call of the store fail, or none. */
  fail(error: Error | undefined): void;
  /** Sessions on the same records and key, as another server or process has them. */
  again(options?: {
    /** The table as another process has it open. */
    readonly records?: RecordStore;
    readonly audience?: string;
    readonly serverKey?: ServerKey;
    readonly source?: IdentitySource;
    readonly links?: SessionPolicy;
  }): Sessions;
}

/** @param options.records default: in memory */
export function testSessions(
  options: {
    readonly records?: RecordStore;
    readonly clock?: ReturnType<typeof fixedClock>;
  } = {},
): TestSessions {
  const clock = options.clock ?? fixedClock(NOW);
  const store = options.records ?? memoryRecordStore({ now: clock });
  let count = 0;
  let failure: Error | undefined;
  const counted = <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) => {
    return async (...args: Args): Promise<Answer> => {
      count += 1;
      if (failure !== undefined) throw failure;
      return call(...args);
    };
  };
  const records: RecordStore = {
    ...store,
    get: counted(store.get),
    create: counted(store.create),
    advance: counted(store.advance),
    delete: counted(store.delete),
  };
  const serverKey = testServerKey(clock);
  const again: TestSessions["again"] = (other = {}) => {
    const { records: table, ...deps } = {
      records,
      serverKey,
      audience: AUDIENCE,
      source: SOURCE,
      links: SESSIONS_OF_ONE,
      ...other,
    };
    const own = authenticated(table, deps.serverKey);
    const signInGeneration = createSignInGeneration({ records: own, audience: deps.audience });
    return createSessions({ ...deps, records: own, signInGeneration, now: clock });
  };
  return {
    sessions: again(),
    records,
    authenticated: authenticated(records, serverKey),
    serverKey,
    clock,
    calls: () => count,
    fail: (error) => {
      failure = error;
    },
    again,
  };
}

/** The same in memory, with a session of WHO. */
export async function startSession(): Promise<TestSessions & Awaited<ReturnType<Sessions["start"]>>> {
  const test = testSessions();
  return { ...test, ...(await test.sessions.start(WHO)) };
}

function authenticated(records: RecordStore, serverKey: ServerKey): RecordStore {
  return authenticatedRecords({ records, keys: oneMacKey(() => serverKey.derive("record-mac")) });
}

/** Sessions of a server with this storage. */
export function sessionsOn(storage: ServerRecordsOptions, now: Clock): Sessions {
  const of = { audience: AUDIENCE, source: SOURCE, signInGeneration: async () => 0, links: SESSIONS_OF_ONE };
  return createSessions({ ...createServerRecords(storage), ...of, now });
}

/** A writer of the table planted a server key, and made a session with it as the server would. */
export async function plantServerKey(): Promise<{
  readonly planted: Buffer;
  /** Of `T1:VICTIM`. */
  readonly accessToken: string;
  /** Starts with a key service, whose keys are in no table. */
  start(adoptUnsealed?: boolean): Sessions;
}> {
  const now = fixedClock(NOW);
  const records = memoryRecordStore({ now });
  const planted = randomBytes(32);
  const data = { v: 1, key: planted.toString("base64url") };
  await records.create({ key: { kind: "server-key", id: "server" }, stage: "plain", data, expiresAt: 9_000_000_000 });
  const context = { environment: "test", table: "tokens" };
  const forged = sessionsOn({ records, keys: undefined, context }, now);
  const { accessToken } = (await forged.start({ ...WHO, user: "T1:VICTIM" })).tokens;
  const keys: KeyWrapper = {
    newDataKey: async () => ({ dataKey: Buffer.alloc(32, 5), wrapped: "wrapped" }),
    unwrap: async () => Buffer.alloc(32, 5),
  };
  const start = (adoptUnsealed = false) => sessionsOn({ records, keys, context, adoptUnsealed }, now);
  return { planted, accessToken, start };
}

/** The pages' sign-ins over these records, under a new key unless one is given. */
export function testSignIns(
  records: RecordStore,
  now: Clock,
  {
    serverKey = testServerKey(now),
    source = SOURCE,
  }: { readonly serverKey?: ServerKey; readonly source?: IdentitySource } = {},
): SignIns {
  const of = { signInGeneration: async () => 0, deploymentUrl: "https://server.example", now };
  return createSignIns({ ...of, records, serverKey, source });
}

/** Its own store, in memory. */
export function testServerKey(now: Clock): ServerKey {
  const context = { environment: "test", table: "memory" };
  return createServerKey({ records: memoryRecordStore({ now }), keys: undefined, context });
}
