/** Tokens at rest, their refresh and their end. Part of list.ts. */
import { attack, FLOWS, type Requirement, row, SCENARIOS, STORE, twin, VENDOR } from "./requirement.ts";

export const AT_REST: readonly Requirement[] = [
  twin(
    "TS-1",
    "A ciphertext is cut, lengthened, or of another version, with a shorter tag or IV. It does not open.",
    `${STORE}/crypto/envelope.twin.test.ts`,
    `${STORE}/crypto/envelope.test.ts`,
  ),
  row("TS-2", "Any one bit of a ciphertext is flipped. It does not open.", `${STORE}/crypto/envelope.test.ts`),
  twin(
    "TS-3",
    "A ciphertext is moved to another row, user, attribute, table or issuer. It does not open there.",
    `${STORE}/crypto/envelope.twin.test.ts`,
    `${STORE}/tokens/token-records.test.ts`,
    `${SCENARIOS}/several-vendors/load-dynamodb.test.ts`,
  ),
  twin(
    "TS-4",
    "A data key made for another place is brought, also where KMS does not compare contexts. It does not open.",
    `${STORE}/keys/kms.twin.test.ts`,
    `${STORE}/keys/kms.test.ts`,
  ),
  twin(
    "TS-5",
    "A ciphertext is made to open under two keys. It opens under the one key it names.",
    `${STORE}/crypto/envelope.twin.test.ts`,
    `${STORE}/crypto/key-commitment.test.ts`,
  ),
  row("TS-6", "An IV is used twice under one key. None is.", `${STORE}/crypto/aes-gcm.test.ts`),
  row(
    "TS-7",
    "In mode `encrypted` a row has plaintext and no ciphertext, or one that does not open. Plaintext is never used.",
    `${STORE}/modes/encrypted.test.ts`,
    `${STORE}/tokens/token-records.test.ts`,
  ),
  row(
    "TS-8",
    "In mode `bridge` an older writer changes the plaintext copy alone. It is noticed, and has a defined outcome.",
    `${STORE}/modes/bridge.test.ts`,
  ),
  row(
    "TS-9",
    "Keys cannot be had when a token is written. Nothing is written, least of all plaintext.",
    `${STORE}/tokens/token-records.test.ts`,
  ),
  row(
    "TS-10",
    "A table goes from `bridge` to `encrypted` while readers of both kinds work. There is a way back until plaintext is stripped.",
    `${STORE}/testing/migration/migration.test.ts`,
    `${STORE}/cli/strip.test.ts`,
  ),
  row(
    "TS-11",
    "Processes of both modes share a table. Plaintext is never added again to a row from which it was removed.",
    `${STORE}/modes/bridge.test.ts`,
  ),
  row(
    "TS-12",
    "KMS is throttled, slow, down, or its key is disabled. Nothing opens, nothing is lost, no plaintext is written.",
    `${STORE}/keys/kms-outage.test.ts`,
  ),
  row(
    "TS-13",
    "A data key stays in memory. It lives five minutes and 2^20 uses at most, and is overwritten.",
    `${STORE}/keys/data-keys.test.ts`,
  ),
  row(
    "TS-14",
    "A KMS key is rotated, moved or replaced. Old rows still open, and no request fails.",
    `${STORE}/keys/kms.test.ts`,
    `${STORE}/keys/data-keys-kms.test.ts`,
    `${STORE}/tokens/token-records.test.ts`,
  ),
  row(
    "TS-15",
    "A migration is killed at any moment. No row is lost or unreadable, and the migration continues where it was.",
    `${STORE}/testing/migration/migration.test.ts`,
    `${STORE}/cli/migrate.test.ts`,
  ),
  row(
    "TS-16",
    "A token is too large, empty or odd. It is stored whole, or refused before anything is written.",
    `${STORE}/tokens/token-records.test.ts`,
  ),
  row(
    "TS-17",
    "A record or an error is printed or inspected. No secret shows.",
    `${STORE}/tokens/token-records.test.ts`,
  ),
  row(
    "TS-18",
    "A read is stale where it decides something. Such reads are consistent, and use no index.",
    `${STORE}/storage/dynamodb/requests.test.ts`,
  ),
  row(
    "TS-19",
    "An attacker with write access to the table puts an old row back, or removes one. A process that has seen a newer one notices; others cannot. An ended session that is put back, or whose index is removed, is not refreshed.",
    `${STORE}/tokens/token-records.test.ts`,
    "packages/mcp-auth/src/hosted/restored-rows.test.ts",
  ),
  row(
    "TS-20",
    "A release changes how things are sealed. Published vectors and golden files of every format agree, for ever.",
    `${STORE}/crypto/aes-gcm.test.ts`,
    `${STORE}/crypto/envelope.vectors.test.ts`,
  ),
];

export const REFRESH: readonly Requirement[] = [
  twin(
    "RF-1",
    "A thousand callers in several processes want one expired token. The vendor is called once, and all get its answer.",
    `${STORE}/refresh/refresh.twin.test.ts`,
    `${STORE}/refresh/storm.test.ts`,
    `${STORE}/refresh/refresh.test.ts`,
  ),
  row("RF-2", "A refresh answer has no refresh token. The old one stays.", `${STORE}/refresh/attempt.test.ts`),
  row(
    "RF-3",
    "A refresh answer has a new refresh token. It is stored before it is handed out, the old one kept a while.",
    `${STORE}/refresh/attempt.test.ts`,
  ),
  row(
    "RF-4",
    "A vendor refuses a refresh while another process has just made one. The row is read again, and the refusal counts only if no other process has refreshed.",
    `${STORE}/refresh/failure.test.ts`,
  ),
  row(
    "RF-5",
    "The process dies between the vendor's response and the write to the store. The previous refresh token is tried once; if that fails, the loss is reported.",
    `${STORE}/refresh/failure.test.ts`,
    `${STORE}/refresh/crash.test.ts`,
  ),
  row(
    "RF-6",
    "A refresh brings an ID token of another issuer or subject. The whole answer is discarded. A token that is merely old is left out.",
    `${VENDOR}/token/refresh.test.ts`,
    `${SCENARIOS}/broker/errors.test.ts`,
  ),
  twin(
    "RF-7",
    "A client refreshes or checks a connection that is another client's, altered or made up, or another owner's token beside its own connection. It is refused, and nothing is sent to the vendor.",
    attack("stolen-token"),
    `${FLOWS}/grants.test.ts`,
    `${FLOWS}/shared-tokens.test.ts`,
    `${FLOWS}/sealed-refresh-tokens.test.ts`,
    `${FLOWS}/check.test.ts`,
    attack("check"),
  ),
  row(
    "RF-8",
    "An access token is sent where a refresh token is due, or the reverse. It is refused, and nothing ends.",
    "packages/mcp-auth/src/hosted/sessions/session-attacks.test.ts",
    "packages/mcp-auth/src/hosted/sessions/issued-token.test.ts",
  ),
  row("RF-9", "The vendor is down during a refresh. No grant is treated as ended.", `${STORE}/refresh/outage.test.ts`),
  row(
    "RV-1",
    "A user disconnects while the vendor is slow. The record ends here first, then the token is revoked at the vendor.",
    `${STORE}/token-store.test.ts`,
  ),
  row(
    "RV-2",
    "A vendor answers a revocation with 200, an error, or nothing. Each has one meaning, and the caller does not wait long.",
    `${VENDOR}/token/revoke.test.ts`,
    `${SCENARIOS}/broker/errors.test.ts`,
  ),
  row(
    "RV-3",
    "A client revokes another client's connection, or another owner's token. It is refused, and nothing is sent to the vendor.",
    `${FLOWS}/grants.test.ts`,
    `${FLOWS}/shared-tokens.test.ts`,
  ),
  twin(
    "RV-4",
    "A revocation comes during a refresh. The revocation wins, and the fresh tokens are kept nowhere.",
    `${STORE}/refresh/refresh.twin.test.ts`,
    `${STORE}/refresh/fence.test.ts`,
    `${STORE}/tokens/token-records.test.ts`,
  ),
];
