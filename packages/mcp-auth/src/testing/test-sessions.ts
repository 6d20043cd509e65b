/** Sessions as tests have them: over any records, with a key in memory, and what went to the store counted. */
import type { Clock, RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store";
import { createServerKey } from "../hosted/server-key-record.ts";
import type { ServerKey } from "../hosted/server-key.ts";
import { createSessions } from "../hosted/sessions-on-records.ts";
import type { Sessions } from "../hosted/sessions.ts";

export const NOW = 1_700_000_000;
export const AUDIENCE = "https://server.example/mcp";
/** Who asks for what, where a test does not care. */
export const WHO = { user: "T1:U1", clientId: "platform", scope: ["read", "write"] };
/** The request of a client that wants what it has. */
export const SAME = { clientId: "platform", scope: undefined };

export interface TestSessions {
  readonly sessions: Sessions;
  readonly records: RecordStore;
  readonly serverKey: ServerKey;
  readonly clock: ReturnType<typeof fixedClock>;
  /** Calls of the store so far. */
  calls(): number;
  /** Makes every call of the store fail, or none. */
  fail(error: Error | undefined): void;
  /** Sessions on the same records and key, as another server or process would have them. */
  again(options?: { readonly audience?: string; readonly serverKey?: ServerKey }): Sessions;
}

/** @param options.records default: in memory */
export function testSessions(
  options: { readonly records?: RecordStore; readonly clock?: ReturnType<typeof fixedClock> } = {},
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
  const again: TestSessions["again"] = (other = {}) =>
    createSessions({ records, serverKey, audience: AUDIENCE, now: clock, ...other });
  return {
    sessions: again(),
    records,
    serverKey,
    clock,
    calls: () => count,
    fail: (error) => {
      failure = error;
    },
    again,
  };
}

/** One of its own, in memory. */
export function testServerKey(now: Clock): ServerKey {
  const context = { environment: "test", table: "memory" };
  return createServerKey({ records: memoryRecordStore({ now }), keys: undefined, context });
}
