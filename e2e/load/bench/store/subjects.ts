/**
 * The subjects of the store's bench, by name: our calls, and the requests of the SDK that they are compared with. In
 * the order in which they are measured: compared ones next to each other.
 */
export const STORE_LABELS = {
  getItem: "GetItem, consistent",
  get: "TokenStore.get",
  putItem: "PutItem",
  put: "TokenStore.put",
  getItemPutItem: "GetItem, then PutItem",
  putNewItem: "PutItem of a new item",
  create: "RecordStore.create",
  updateItem: "UpdateItem under a condition",
  advance: "RecordStore.advance",
} as const;
export type StoreSubject = keyof typeof STORE_LABELS;
