/**
 * Records that any number of processes change: connectors, their list, users' connections. The
 * stage of each is its state. Every change is one conditional write, so that no reader sees half of
 * it.
 */
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { changeRecord } from "@oauth-broker/service";

export const NEVER = 253_402_300_799;
const ROUNDS = 8;

export interface Kept<State extends string, Data extends { readonly v: 1 }> {
  readonly id: string;
  readonly state: State;
  readonly data: Data;
}

/** @param busy the message of the error when too many others change the same record */
export function keptRecords<State extends string, Data extends { readonly v: 1 }>(
  records: RecordStore,
  kind: string,
  busy: string,
) {
  /** The fields of a record are JSON by construction; our types do not express that. */
  const toKept = (id: string, state = "", data?: JsonObject): Kept<State, Data> | undefined => {
    if (data !== undefined && data["v"] !== 1) throw new TypeError(`a ${kind} of a later release`);
    return data && { id, state: state as State, data: data as unknown as Data };
  };
  return {
    find: async (id: string) => {
      const record = await records.get({ kind, id });
      return toKept(id, record?.stage, record?.data);
    },
    /**
     * @param decide the whole of the next version; undefined: nothing changes
     * @returns what `decide` said of the version it was written over
     */
    change: <Next extends Omit<Kept<State, Data>, "id"> | undefined>(
      id: string,
      decide: (kept: Kept<State, Data> | undefined) => Promise<Next> | Next,
    ): Promise<Next> => {
      const decideRecord = async (before: JsonObject | undefined, stage: string | undefined) => {
        const result = await decide(toKept(id, stage, before));
        if (result === undefined) return { result };
        const data = result.data as unknown as JsonObject;
        return { next: { stage: result.state, data, expiresAt: NEVER }, result };
      };
      return changeRecord<Next>({ kind, id }, { records, rounds: ROUNDS, busy, decide: decideRecord });
    },
  };
}
