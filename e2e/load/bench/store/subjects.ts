/**
 * The subjects of the store's bench, by name, and the load on them. operations.ts implements
 * them.
 */

/** In the order in which they are measured: compared ones next to each other. */
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

/** Concurrent operations. */
export const LANES = 32;
/** Users whose tokens are read, in turn. */
export const READERS = 250;
/** As long as a JWT and an opaque token commonly are. */
export const TOKEN_LENGTHS = { access: 1000, refresh: 200 };
/** Per call of the stores: an engine that has just started is slow, and that is not measured. */
export const DEADLINE_MS = 30_000;
