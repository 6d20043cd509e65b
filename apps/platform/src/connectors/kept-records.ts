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
  type Found = Kept<State, Data> | undefined;
  /** The fields of a record are JSON by construction; our types do not express that. */
  const toKept = (id: string, state: string, data: JsonObject): Kept<State, Data> => {
    if (data["v"] !== 1) throw new TypeError(`a ${kind} of a later release`);
    return { id, state: state as State, data: data as unknown as Data };
  };
  return {
    find: async (id: string): Promise<Found> => {
      const record = await records.get({ kind, id });
      return record && toKept(id, record.stage, record.data);
    },
    /**
     * @param decide the whole of the next version; undefined: nothing changes
     * @returns what `decide` said of the version it was written over
     */
    change: <Next extends Omit<Kept<State, Data>, "id"> | undefined>(
      id: string,
      decide: (kept: Found) => Promise<Next> | Next,
    ): Promise<Next> =>
      changeRecord<Next>(
        { kind, id },
        {
          records,
          rounds: ROUNDS,
          busy,
          decide: async (before, stage = "") => {
            const result = await decide(before && toKept(id, stage, before));
            if (result === undefined) return { result };
            const data = result.data as unknown as JsonObject;
            return { next: { stage: result.state, data, expiresAt: NEVER }, result };
          },
        },
      ),
  };
}
