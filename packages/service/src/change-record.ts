/**
 * Changes a record that any number of processes change: what was decided over one version of it is
 * written over that version or not at all, and then decided again.
 */
import {
  type EpochSeconds,
  type JsonObject,
  OAuthError,
  type RecordKey,
  type RecordStore,
} from "@oauth-broker/oauth-core";

/** The record of a change, and what decides its next version. */
export interface ChangeOptions<T> {
  readonly records: RecordStore;
  readonly stage: string;
  /** The text member that has another value after every change. */
  readonly version: string;
  /** In each round one of the concurrent writers succeeds, so up to this many writers get through. */
  readonly rounds: number;
  /** The message of the error when all rounds were lost. */
  readonly busy: string;
  /** @param data undefined: the record does not exist, or has expired */
  readonly decide: (data: JsonObject | undefined) => Promise<Change<T>> | Change<T>;
}

/** One decision over one version of the record. */
export interface Change<T> {
  /** Absent: the record stays as it is. */
  readonly next?: { readonly data: JsonObject; readonly expiresAt: EpochSeconds };
  readonly result: T;
}

/**
 * @returns the result of the decision that was written
 * @throws OAuthError temporarily_unavailable when others were faster in every round, and as
 *   `decide`
 */
export async function changeRecord<T>(
  key: RecordKey,
  { records, stage, version, rounds, busy, decide }: ChangeOptions<T>,
): Promise<T> {
  for (let round = 0; round < rounds; round += 1) {
    const record = await records.get(key);
    const { next, result } = await decide(record?.data);
    if (next === undefined) return result;
    if (record === undefined) {
      if ((await records.create({ key, stage, ...next })) === "created") return result;
      continue;
    }
    const over = record.data[version];
    const from = { stage, expect: { [version]: typeof over === "string" ? over : "" } };
    const { outcome } = await records.advance(key, from, { stage, set: next.data, expiresAt: next.expiresAt });
    if (outcome === "moved") return result;
  }
  throw new OAuthError("temporarily_unavailable", busy, { detail: `the record ${key.kind} kept changing` });
}
