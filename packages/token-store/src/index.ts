/**
 * Users' tokens kept sealed and read fresh, the records of one server beside them, and the
 * envelopes and keys of both.
 */
export { openTokenStore, readTokenStoreSettings, requireStoreFile, settingsProblems } from "./config.ts";
export type { OpenTokenStoreOptions, TokenStoreSettings } from "./config.ts";
export { deriveKey, open, seal } from "./crypto/envelope.ts";
export { canonicalJson } from "./crypto/canonical-json.ts";
export { TokenStoreError } from "./errors.ts";
export type { TokenStoreErrorCode } from "./errors.ts";
export { localKeyWrapper } from "./keys/local.ts";
export type { LocalKeyFile, LocalKeyWrapper, LocalKeyWrapperOptions } from "./keys/local.ts";
export { KEY_ROTATION_DAYS, ROLE_ACTIONS, TABLE_SCHEMA, TIME_TO_LIVE } from "./provision.ts";
export type { RoleActions, TableSchema } from "./provision.ts";
export type { Discard, Refresh, RefreshableTokens } from "./refresh/context.ts";
export type { RefreshLeasesOptions, RefreshOptions } from "./refresh/refresh.ts";
export type { RefreshTimes } from "./refresh/times.ts";
export { openServerStorage } from "./server-storage.ts";
export type { ServerStorage } from "./server-storage.ts";
export { authenticatedRecords, oneMacKey } from "./storage/authenticated-records.ts";
export type { AuthenticatedRecordsOptions, MacKey, MacKeys } from "./storage/authenticated-records.ts";
export type { StorageTiming } from "./storage/timed.ts";
export type { Row, RowKey, TokenRows } from "./storage/token-rows.ts";
export { linkOnce, writeWhole } from "./storage/write-whole.ts";
export { isRegionName, isTableName } from "./table-name.ts";
export { createTokenStore } from "./token-store.ts";
export type { Link, LinkReading } from "./links.ts";
export type { TokenStore, TokenStoreEvent, TokenStoreOptions } from "./token-store.ts";
export type { ModeName } from "./tokens/token-attributes.ts";
export type { LinkDetails, SignIn, StoredTokens, TokenKey, TokenSet, TokenStatus } from "./tokens/tokens.ts";
