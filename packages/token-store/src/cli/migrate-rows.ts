/** What migrate does with a row. Every write is TokenRecords' own: conditional on the row as it was read, `updated_at` untouched. */
import type { DataKeys } from "../keys/data-keys.ts";
import type { Row } from "../storage/token-rows.ts";
import { inspect } from "./inspect.ts";
import { lanesOf } from "./lanes.ts";
import type { Outcome, Visitor } from "./passes.ts";
import type { KnownRow } from "./row-kinds.ts";
import type { CommandDeps, Pace } from "./walk.ts";

/** Later passes open only copies that may be of after the start, whatever the clock of the machine that wrote them. */
const CLOCK_SKEW_SECONDS = 3600;

const SEALED: Outcome = { name: "sealed", where: "counts", again: true };
const COPY_TAKEN: Outcome = { name: "copies_taken", where: "counts", again: false };
const REWRAPPED: Outcome = { name: "rewrapped", where: "counts", again: false };
const UNREADABLE: Outcome = { name: "unreadable", where: "counts", again: false };
/** Plaintext only, and to stay so. */
const UNKNOWN_ISSUER: Outcome = { name: "unknown_issuer", where: "left", again: false };
const REFUSED: Outcome = { name: "refused", where: "left", again: false };
/** Not written, because it changed at every try. */
const IN_USE: Outcome = { name: "in_use", where: "left", again: true };

export function migrateRows(
  {
    issuers,
    rewrap,
    startedAt,
  }: { readonly issuers: ReadonlyMap<string, string>; readonly rewrap: boolean; readonly startedAt: number },
  pace: Pace,
  deps: CommandDeps & { readonly dataKeys: DataKeys },
): Visitor {
  const { dataKeys, environment, rows } = deps;
  const { patiently, works } = pace;
  const lanes = lanesOf(deps, patiently);
  const isStale = ({ attributes: { data_key: wrapped } }: Row): boolean =>
    typeof wrapped === "string" && dataKeys.isStale(wrapped);

  /** Whether a sealed row wants to be read by the records, which then write it. */
  const wantsWork = async (
    row: Row,
    { kind }: KnownRow,
    issuer: string,
    pass: number,
  ): Promise<boolean | "unreadable"> => {
    if (rewrap && isStale(row)) return true;
    const since = row.attributes["updated_at"];
    const isRecent = typeof since !== "number" || since >= startedAt - CLOCK_SKEW_SECONDS;
    if (kind === "ciphertext_only" || (pass > 1 && !isRecent)) return false;
    await works.take();
    const inspection = await patiently(() => inspect(row, issuer, { dataKeys, environment, table: rows.table }));
    return inspection === "unreadable" ? inspection : inspection === "differs";
  };

  return {
    visit: async (row, known, { lane, pass }) => {
      const { kind, names } = known;
      if (names === undefined || kind === "expired" || kind === "empty") return undefined;
      const unreadable = pass === 1 ? UNREADABLE : undefined;
      if (kind === "broken") return unreadable;
      const issuer = issuers.get(names.vendor);
      if (issuer === undefined) return kind === "plaintext_only" ? UNKNOWN_ISSUER : undefined;
      if (kind === "plaintext_only") await works.take();
      else {
        const wanted = await wantsWork(row, known, issuer, pass);
        if (wanted === "unreadable") return unreadable;
        if (!wanted) return undefined;
      }
      //= bar#TS-15
      const read = await lanes[lane]?.read({ ...names, issuer }, row);
      if (read?.record === "refused") return kind === "plaintext_only" ? REFUSED : undefined;
      if (read?.record === "unreadable") return unreadable;
      if (read?.record === "in_use") return IN_USE;
      if (read?.found.has("plaintext_only") === true) return SEALED;
      if (read?.found.has("copy_changed") === true) return COPY_TAKEN;
      return read?.found.has("rewrapped") === true ? REWRAPPED : undefined;
    },
  };
}
