/** A DynamoDB table as the stores over it see it: record-store.ts and token-rows.ts. Opened by table.ts. */
import type { Expressions, Item, ItemKey } from "./item.ts";

/** `item` is as it now stands: as written, or as what failed the condition; undefined where there is none. */
export interface Written {
  readonly written: boolean;
  readonly item: Item | undefined;
}

/** The requests of one call of a store. Reads are strongly consistent. */
export interface Items {
  get(key: ItemKey): Promise<Item | undefined>;
  put(item: Item, expressions: Expressions, attempt: string): Promise<Written>;
  /**
   * @param attempt set by the expressions as the item's `attempt`
   * @param returns whether a write answers the item as it now stands; whoever does not look at it saves its way
   */
  update(key: ItemKey, expressions: Expressions, attempt: string, returns: "ALL_NEW" | "NONE"): Promise<Written>;
  delete(key: ItemKey, expressions?: Expressions): Promise<Written>;
  /** Every item of the partition, by `sk`. */
  query(pk: string): Promise<readonly Item[]>;
  scan(limit: number, after?: ItemKey): Promise<{ readonly items: readonly Item[]; readonly last?: Item }>;
}

export interface DynamoTable {
  /** @throws OAuthError temporarily_unavailable; TokenStoreError too_large */
  call<T>(work: (items: Items) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
