/** One store that several processes share, as far away as a database in a network. */
import type { Clock, RecordKey, RecordStore, StoredRecord } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { currentRequest } from "../invariants/promises.ts";
import { checkStage } from "../invariants/stages.ts";
import type { Beginning } from "./network.ts";

/** Takes a defence away, to see the simulator find it. */
export type Weaken = (store: RecordStore) => RecordStore;

export type SharedStore = ReturnType<typeof createSharedStore>;
export function createSharedStore(
  { storeDistance: distance, tell, promises }: Beginning,
  weaken: Weaken = (store) => store,
) {
  let clock: Clock = () => 0;
  const flows: RecordKey[] = [];
  // It reads the clock before its first await, so each call is decided by its caller's.
  const store = weaken(memoryRecordStore({ now: () => clock() }));

  /** What is kept has no secret in plain text, and a flow is its client's. */
  const check = ({ key, data }: StoredRecord): void => {
    promises.kept(JSON.stringify(data));
    const client = currentRequest.getStore()?.client;
    if (key.kind !== "flow" || client === undefined || data["clientId"] === client) return;
    promises.broke(`${client} moved a flow of another client`);
  };

  return {
    /** The store as one process sees it, by its own clock. */
    of: (process: string, now: Clock): RecordStore => {
      const call = <T>(to: string, { kind, id }: RecordKey, make: () => Promise<T>, isRead = false): Promise<T> =>
        distance.call(process, { to, place: `${kind} ${id}`, isRead }, () => {
          clock = now;
          return make();
        });
      return {
        get: (key, options) => call(`read ${key.kind}`, key, () => store.get(key, options), true),
        create: (record) => {
          const { key } = record;
          if (key.kind === "flow") flows.push(key);
          check({ keepUntil: record.expiresAt, ...record });
          return call(`create ${key.kind}`, key, () => store.create(record));
        },
        advance: (key, from, patch) =>
          call(`move ${key.kind} from ${from.stage} to ${patch.stage}`, key, async () => {
            const advanced = await store.advance(key, from, patch);
            if (advanced.outcome === "moved") {
              check(advanced.record);
              checkStage(key, from.stage, patch.stage, promises);
            }
            return advanced;
          }),
        delete: (key) => call(`delete ${key.kind}`, key, () => store.delete(key)),
        ping: () => call("answer", { kind: "", id: "" }, () => store.ping(), true),
        close: async () => {},
      };
    },
    /**
     * By an attacker who can write the table: the newest flows are put back to an earlier stage, so that what was used
     * could be used again.
     *
     * @param only those in this stage; default: any
     */
    rewriteFlows: async (only?: string) => {
      for (const key of flows.slice(-3)) {
        const record = await store.get(key);
        const stage = record === undefined ? undefined : EARLIER[record.stage];
        if (record === undefined || stage === undefined || record.stage !== (only ?? record.stage)) continue;
        tell(`the attacker writes the table: a flow goes from ${record.stage} back to ${stage}`);
        void store.delete(key);
        await store.create({ ...record, stage });
      }
    },
    /**
     * The same attacker writes a flow's row back, changed, under its own id or under another flow's.
     *
     * @returns false if the table has no such flow
     */
    plantFlow: async (from: string, change: (row: StoredRecord) => Partial<StoredRecord>, to = from) => {
      const row = await store.get({ kind: "flow", id: from }, { includeExpired: true });
      if (row === undefined) return false;
      const key = { kind: "flow", id: to };
      const place = from === to ? "" : ", and put in the place of another";
      tell(`the attacker writes the table: a flow's row is changed${place}`);
      await store.delete(key);
      await store.create({ ...row, ...change(row), key });
      return true;
    },
  };
}

const EARLIER: Readonly<Record<string, string>> = { started: "pushed", parked: "started", spent: "parked" };
