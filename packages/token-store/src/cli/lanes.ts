/** Records with an ear: which of their findings belong to the row in hand. One for each row that is worked on at a time. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../errors.ts";
import type { Row, TokenRows } from "../storage/token-rows.ts";
import type { CurrentRecord, RecordEvent, TokenRecords } from "../tokens/token-records.ts";
import type { TokenKey } from "../tokens/tokens.ts";
import { isUnreadable } from "./inspect.ts";
import type { Patiently } from "./patience.ts";
import { type CommandDeps, LANES } from "./walk.ts";

export interface Lane {
  readonly records: TokenRecords;
  /**
   * Reads the record, which seals what must be.
   *
   * @param row as it was scanned a moment ago: it saves a read. All that is written is conditional on it, and where it has
   *   changed, the row is read again
   */
  read(key: TokenKey, row?: Row): Promise<LaneRead>;
}

export interface LaneRead {
  /**
   * `unreadable`: it does not open. `refused`: it cannot be sealed, its tokens being longer than a row takes. `in_use`: it
   * could not be written, because it was another row at every try.
   */
  readonly record: CurrentRecord | "unreadable" | "refused" | "in_use" | undefined;
  readonly found: ReadonlySet<RecordEvent["name"]>;
}

export function lanesOf(
  { recordsFor, rows }: Pick<CommandDeps, "recordsFor" | "rows">,
  patiently: Patiently,
): readonly Lane[] {
  return Array.from({ length: LANES }, () => {
    let found = new Set<RecordEvent["name"]>();
    let scanned: Row | undefined;
    const get: TokenRows["get"] = async (key) => {
      const row = scanned;
      scanned = undefined;
      return row ?? rows.get(key);
    };
    const records = recordsFor({ ...rows, get }, ({ name }) => void found.add(name));
    return {
      records,
      read: async (key, row) => {
        found = new Set();
        scanned = row;
        try {
          const record = await patiently(() =>
            records.read(key).catch((error: unknown) => {
              if (keptChanging(error)) return "in_use" as const;
              throw error;
            }),
          );
          return { record, found };
        } catch (error) {
          if (isRefused(error)) return { record: "refused", found };
          if (isUnreadable(error)) return { record: "unreadable", found };
          throw error;
        }
      },
    };
  });
}

/** Somewhere below what the records say: the tokens themselves are more than a row takes. */
function isRefused(error: unknown): boolean {
  const isOdd = error instanceof TokenStoreError && (error.code === "too_large" || error.code === "input_invalid");
  return isOdd || (error instanceof Error && error.cause !== undefined && isRefused(error.cause));
}

/** One row that others write all the time is no outage of the table. */
function keptChanging(error: unknown): boolean {
  return error instanceof OAuthError && error.extras.reason === "record_in_use";
}
