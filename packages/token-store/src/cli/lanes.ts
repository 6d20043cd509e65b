/** Records with an ear: which of their findings belong to the row in hand. One for each row that is worked on at a time. */
import { TokenStoreError } from "../errors.ts";
import type { CurrentRecord, RecordEvent, TokenRecords } from "../token-records.ts";
import type { TokenKey } from "../tokens.ts";
import { isUnreadable } from "./inspect.ts";
import type { Patiently } from "./patience.ts";
import { type CommandDeps, LANES } from "./walk.ts";

export interface Lane {
  readonly records: TokenRecords;
  /** Reads the record, which seals what must be. */
  read(key: TokenKey): Promise<LaneRead>;
}

export interface LaneRead {
  /** `unreadable`: it does not open. `refused`: it cannot be sealed, its tokens being longer than a row takes. */
  readonly record: CurrentRecord | "unreadable" | "refused" | undefined;
  readonly found: ReadonlySet<RecordEvent["name"]>;
}

export function lanesOf({ recordsFor }: Pick<CommandDeps, "recordsFor">, patiently: Patiently): readonly Lane[] {
  return Array.from({ length: LANES }, () => {
    let found = new Set<RecordEvent["name"]>();
    const records = recordsFor(({ name }) => void found.add(name));
    return {
      records,
      read: async (key) => {
        found = new Set();
        try {
          return { record: await patiently(() => records.read(key)), found };
        } catch (error) {
          if (isUnreadable(error)) return { record: "unreadable", found };
          const isRefused =
            error instanceof TokenStoreError && (error.code === "too_large" || error.code === "input_invalid");
          if (isRefused) return { record: "refused", found };
          throw error;
        }
      },
    };
  });
}
