/**
 * Changes a record that any number of processes change: what was decided over one version of it is
 * written over that version or not at all, and then decided again.
 */
import { randomUUID } from "node:crypto";
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
  /** The stage of the record until a version names another. Default `kept`. */
  readonly stage?: string;
  /**
   * The text member to which `decide` gives another value at every change. Absent: `revision`, which
   * is set here.
   */
  readonly version?: string;
  /** In each round one of the concurrent writers succeeds, so up to this many writers get through. */
  readonly rounds: number;
  /** The message of the error when all rounds were lost. */
  readonly busy: string;
  /** @param data undefined, like its stage: the record does not exist, or has expired */
  readonly decide: (data: JsonObject | undefined, stage: string | undefined) => Promise<Change<T>> | Change<T>;
}

/** One decision over one version of the record. */
export interface Change<T> {
  /** Absent: the record stays as it is. `data` is the whole of the next version. */
  readonly next?: { readonly data: JsonObject; readonly expiresAt: EpochSeconds; readonly stage?: string };
  readonly result: T;
}

/**
 * @returns the result of the decision that was written
 * @throws OAuthError temporarily_unavailable when others were faster in every round, and as
 *   `decide`
 */
export async function changeRecord<T>(
  key: RecordKey,
  { records, stage: usual = "kept", version, rounds, busy, decide }: ChangeOptions<T>,
): Promise<T> {
  for (let round = 0; round < rounds; round += 1) {
    const record = await records.get(key);
    const { next, result } = await decide(record?.data, record?.stage);
    if (next === undefined) return result;
    const { stage = usual, expiresAt } = next;
    const data = version === undefined ? { ...next.data, revision: randomUUID() } : next.data;
    if (record === undefined) {
      if ((await records.create({ key, stage, data, expiresAt })) === "created") return result;
      continue;
    }
    const { [version ?? "revision"]: over } = record.data;
    const from = { stage: record.stage, expect: { [version ?? "revision"]: typeof over === "string" ? over : "" } };
    const remove = Object.keys(record.data).filter((name) => !Object.hasOwn(data, name));
    const { outcome } = await records.advance(key, from, { stage, set: data, expiresAt, remove });
    if (outcome === "moved") return result;
  }
  throw new OAuthError("temporarily_unavailable", busy, { detail: `the record ${key.kind} kept changing` });
}
