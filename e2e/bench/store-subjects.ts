/** What the store's bench compares, by name, and how hard it is driven. store-operations.ts does it. */

/** In the order they are measured: compared ones next to each other. */
export const STORE_SUBJECTS = [
  "getItem",
  "get",
  "putItem",
  "put",
  "getItemPutItem",
  "putNewItem",
  "create",
  "updateItem",
  "advance",
] as const;
export type StoreSubject = (typeof STORE_SUBJECTS)[number];

/** Operations under way at once. */
export const LANES = 32;
/** Users whose tokens are read, in turn. */
export const READERS = 250;
/** Of the small table. */
export const LEAST_ROWS = 1000;
/** As long as a JWT and an opaque token commonly are. */
export const TOKEN_LENGTHS = { access: 1000, refresh: 200 };
/** Of a call of the stores: an engine that has just started is slow, and that is not measured. */
export const DEADLINE_MS = 30_000;
