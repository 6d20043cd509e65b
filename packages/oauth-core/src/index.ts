/**
 * What every subpath uses: the ports an app implements, errors, secrets that do not print, keyed
 * hashes, and mechanics without OAuth in them. The rest is in the subpaths: protocol, registry,
 * client, server, brokered-code, egress, http, command-line.
 */
export type {
  Advanced,
  Clock,
  EpochSeconds,
  Fetch,
  From,
  JsonObject,
  JsonValue,
  KeyContext,
  KeyWrapper,
  NewRecord,
  Patch,
  RecordKey,
  RecordStore,
  StoredRecord,
  Timer,
} from "./ports.ts";

export { type BodyFault, type ByteCollector, createByteCollector, isChopped } from "./mechanics/byte-collector.ts";
export { defined } from "./mechanics/defined.ts";
export { createExpiringMap, type ExpiringMap } from "./mechanics/expiring-map.ts";
export { makeFolder } from "./mechanics/make-folder.ts";
export { nearest } from "./mechanics/nearest.ts";
export { matching, type PatternCheck } from "./mechanics/pattern-check.ts";
export { createSharedCalls, type SharedCalls } from "./mechanics/shared-calls.ts";
export { systemClock } from "./mechanics/system-clock.ts";
export { systemTimer } from "./mechanics/system-timer.ts";
export { createTurns, type Refusal, type Turn, type Turns, type TurnsOptions } from "./mechanics/turns.ts";
export {
  errorText,
  isOutage,
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorExtras,
  type OAuthErrorOptions,
  toOAuthError,
  withoutRestart,
  withRestart,
} from "./protocol/errors.ts";
export { hkdfSha256, hmac } from "./protocol/mac.ts";
export { isJsonList, parseExactJson } from "./mechanics/exact-json.ts";
export { isJsonObject, parseJsonObject, parseJsonStrict } from "./protocol/strict-json.ts";
export { Secret } from "./protocol/secret.ts";
