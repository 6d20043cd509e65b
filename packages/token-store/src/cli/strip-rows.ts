/**
 * What strip does with a row. A copy goes only in the write that seals anew what was just opened, so a row whose ciphertext
 * does not open keeps its copy. A lease is somebody's refresh on its way to the vendor: such a row is put off.
 */
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import type { DataKeys } from "../keys/data-keys.ts";
import { olderReadersUntil } from "../modes/older-readers.ts";
import { expectAsRead, markOf } from "../tokens/row-conditions.ts";
import type { Row } from "../storage/token-rows.ts";
import { COPY_ATTRIBUTES } from "../tokens/token-attributes.ts";
import type { CurrentRecord, TokenRecords } from "../tokens/token-records.ts";
import type { TokenKey } from "../tokens/tokens.ts";
import { inspect } from "./inspect.ts";
import { type Lane, lanesOf } from "./lanes.ts";
import type { Outcome, Visitor } from "./passes.ts";
import { type KnownRow, knownRow } from "./row-kinds.ts";
import type { CommandDeps, Pace } from "./walk.ts";

/** A lease of ours lasts less; one that ends later is waited for in the next pass. */
const LONGEST_LEASE_SECONDS = 120;
/** Rows put off to the end of a pass; more are left to the next one. */
const MOST_PUT_OFF = 10_000;
/** A server may write a row between our read and our write, but not always. */
const MAX_TRIES = 3;

const STRIPPED: Outcome = { name: "stripped", where: "counts", again: true };
const EXPIRED_DELETED: Outcome = { name: "expired_deleted", where: "counts", again: true };
const COPY_DIFFERS: Outcome = { name: "copy_differs", where: "left", again: false };
const IN_USE: Outcome = { name: "in_use", where: "left", again: true };
const PLAINTEXT_ONLY: Outcome = { name: "plaintext_only", where: "left", again: false };
const UNKNOWN_ISSUER: Outcome = { name: "unknown_issuer", where: "left", again: false };
const UNREADABLE: Outcome = { name: "unreadable", where: "left", again: false };
const REFUSED: Outcome = { name: "refused", where: "left", again: false };
const NO_ACCESS_TOKEN: Outcome = { name: "no_access_token", where: "left", again: false };

export function stripRows(
  { issuers }: { readonly issuers: ReadonlyMap<string, string> },
  pace: Pace,
  deps: CommandDeps & { readonly dataKeys: DataKeys },
): Visitor {
  const { rows, now, sleep, signal, dataKeys, environment } = deps;
  const { patiently, works } = pace;
  const lanes = lanesOf(deps, patiently);
  let putOff: Row[] = [];

  const stripOne = async (row: Row, known: KnownRow, at: number): Promise<Outcome | undefined> => {
    const { kind, names, showsPlaintext } = known;
    if (names === undefined) return undefined;
    if (kind === "expired") return showsPlaintext ? removeExpired(row) : undefined;
    if (kind === "plaintext_only") return PLAINTEXT_ONLY;
    if (kind === "empty") return showsPlaintext ? NO_ACCESS_TOKEN : undefined;
    if (kind === "broken") return showsPlaintext ? UNREADABLE : undefined;
    if (kind !== "both") return undefined;
    const issuer = issuers.get(names.vendor);
    if (issuer === undefined) return UNKNOWN_ISSUER;
    const lane = lanes[at];
    if (lane === undefined) throw new RangeError("there is no such lane");
    await works.take();
    // Servers ignore such a copy by now, and who can write the table may have planted it. Migrate makes it count, if asked.
    const inspection = await patiently(() => inspect(row, issuer, { dataKeys, environment, table: rows.table }));
    return inspection === "differs" ? COPY_DIFFERS : removeCopy({ ...names, issuer }, row, lane);
  };

  const removeCopy = async (key: TokenKey, row: Row, lane: Lane): Promise<Outcome | undefined> => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      // oxlint-disable-next-line no-await-in-loop
      const { record } = await lane.read(key, tries === 0 ? row : undefined);
      if (record === undefined) return undefined;
      if (record === "unreadable") return UNREADABLE;
      if (record === "refused") return REFUSED;
      if (record === "in_use") return IN_USE;
      // oxlint-disable-next-line no-await-in-loop
      if (isBare(record) || (await patiently(() => withoutCopy(record, lane.records)))) return STRIPPED;
    }
    return IN_USE;
  };

  /** As the table's TTL would, which may be days late. */
  const removeExpired = async (row: Row): Promise<Outcome | undefined> => {
    await works.take();
    const expected = expectAsRead(row.attributes, ["ttl", "version", "status", ...COPY_ATTRIBUTES]);
    const removed = await patiently(() => rows.delete(row.key, expected));
    return removed === "deleted" ? EXPIRED_DELETED : IN_USE;
  };

  return {
    mayGoOn: async () => (await patiently(() => olderReadersUntil({ rows, now }))) === undefined,
    visit: async (row, known, { lane }) => {
      const isLeased = known.kind === "both" && leasedUntil(row) > now();
      if (!isLeased) return stripOne(row, known, lane);
      if (putOff.length === MOST_PUT_OFF) return IN_USE;
      putOff.push(row);
      return undefined;
    },
    endOfPass: async () => {
      const waiting = putOff;
      putOff = [];
      const outcomes: (Outcome | undefined)[] = [];
      /* oxlint-disable no-await-in-loop */
      for (const { key } of waiting) {
        if (signal.aborted) return outcomes;
        let row = await patiently(() => rows.get(key));
        const pause = row === undefined ? 0 : Math.min(LONGEST_LEASE_SECONDS, leasedUntil(row) - now());
        if (pause > 0) {
          await sleep(pause * 1000);
          row = await patiently(() => rows.get(key));
        }
        if (row === undefined) continue;
        const isLeased = leasedUntil(row) > now();
        outcomes.push(isLeased ? IN_USE : await stripOne(row, knownRow(row, now()), 0));
      }
      /* oxlint-enable no-await-in-loop */
      return outcomes;
    },
  };
}

/** Seals the tokens anew under the mark `encrypted`; the copy goes in the same write. @returns false when the row has changed */
async function withoutCopy(record: CurrentRecord, records: TokenRecords): Promise<boolean> {
  return (await records.reseal(record, "encrypted")) !== undefined;
}

/** A row marked `encrypted` loses its copy when the copy is taken. */
function isBare({ row: { attributes } }: CurrentRecord): boolean {
  return markOf(attributes) === "encrypted" && !COPY_ATTRIBUTES.some((name) => Object.hasOwn(attributes, name));
}

function leasedUntil({ attributes: { lease_until: until } }: Row): EpochSeconds {
  return typeof until === "number" ? until : 0;
}
