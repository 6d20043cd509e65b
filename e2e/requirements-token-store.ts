/** Tokens at rest, their refresh and their end: what of the security bar rests on the token store. Part of requirements.ts. */
import { elsewhere, type Requirement, row, twin } from "./requirement.ts";

const STORE = "packages/token-store/src";

export const TOKEN_STORE: readonly Requirement[] = [
  twin(
    "TS-1",
    "A ciphertext of another shape does not open",
    `${STORE}/envelope.twin.test.ts`,
    `${STORE}/envelope.test.ts`,
  ),
  row("TS-2", "Nor does one with any bit flipped", `${STORE}/envelope.test.ts`),
  twin(
    "TS-3",
    "A value moved to another place does not open",
    `${STORE}/envelope.twin.test.ts`,
    `${STORE}/token-records.test.ts`,
  ),
  twin(
    "TS-4",
    "A data key of another context does not open",
    `${STORE}/keys/kms.twin.test.ts`,
    `${STORE}/keys/kms.test.ts`,
  ),
  twin(
    "TS-5",
    "A ciphertext opens under the one key it names",
    `${STORE}/envelope.twin.test.ts`,
    `${STORE}/sealing/key-commitment.test.ts`,
  ),
  row("TS-6", "No IV comes twice", `${STORE}/sealing/aes-gcm.test.ts`),
  row(
    "TS-7",
    "Mode encrypted never falls back to plaintext",
    `${STORE}/modes/encrypted.test.ts`,
    `${STORE}/token-records.test.ts`,
  ),
  row("TS-8", "Mode bridge notices what an older writer changed", `${STORE}/modes/bridge.test.ts`),
  row("TS-9", "Without keys nothing is written, least of all plaintext", `${STORE}/token-records.test.ts`),
  row(
    "TS-10",
    "From bridge to encrypted and back until strip",
    `${STORE}/testing/migration.test.ts`,
    `${STORE}/cli/strip.test.ts`,
  ),
  row(
    "TS-11",
    "Processes of both modes share a table, and plaintext never comes back",
    `${STORE}/modes/bridge.test.ts`,
  ),
  row("TS-12", "Whatever befalls KMS, nothing opens and nothing is lost", `${STORE}/keys/kms-outage.test.ts`),
  row("TS-13", "A data key lives five minutes and 2^20 uses at most", `${STORE}/data-keys.test.ts`),
  row(
    "TS-14",
    "A key is rotated, moved or replaced without a failed request",
    `${STORE}/keys/kms.test.ts`,
    `${STORE}/data-keys-kms.test.ts`,
    `${STORE}/token-records.test.ts`,
  ),
  row(
    "TS-15",
    "A migration killed at any moment loses nothing",
    `${STORE}/testing/migration.test.ts`,
    `${STORE}/cli/migrate.test.ts`,
  ),
  row("TS-16", "A token too large or too odd is refused before anything is written", `${STORE}/token-records.test.ts`),
  row("TS-17", "No secret shows when a record or an error is printed", `${STORE}/token-records.test.ts`),
  row("TS-18", "What decides is read consistently", `${STORE}/records/dynamodb-requests.test.ts`),
  row("TS-19", "An old row put back is noticed by who has seen a newer one", `${STORE}/token-records.test.ts`),
  row(
    "TS-20",
    "Published vectors and golden files agree, for ever",
    `${STORE}/sealing/aes-gcm.test.ts`,
    `${STORE}/envelope.vectors.test.ts`,
  ),
  twin(
    "RF-1",
    "A thousand callers, one vendor call",
    `${STORE}/refresh-lease.twin.test.ts`,
    `${STORE}/refresh-storm.test.ts`,
    `${STORE}/refresh-lease.test.ts`,
  ),
  row("RF-2", "An answer without a refresh token keeps the old one", `${STORE}/refresh-attempt.test.ts`),
  row(
    "RF-3",
    "A new refresh token is stored before it is handed out, the old one kept a while",
    `${STORE}/refresh-attempt.test.ts`,
  ),
  row("RF-4", "A refusal is believed once nobody else has refreshed", `${STORE}/refresh-failure.test.ts`),
  row(
    "RF-5",
    "After a crash of our own the one before is tried, once",
    `${STORE}/refresh-failure.test.ts`,
    `${STORE}/refresh-crash.test.ts`,
  ),
  row(
    "RF-6",
    "A refreshed ID token is of the same issuer and subject",
    "packages/oauth-core/src/vendor-client/refresh-tokens.test.ts",
    "e2e/scenarios/errors-refresh.test.ts",
  ),
  row(
    "RF-7",
    "Nobody refreshes what is not his",
    "apps/broker/src/flows/grants.test.ts",
    "e2e/scenarios/errors-refresh.test.ts",
  ),
  elsewhere(
    "RF-8",
    "A token of one kind is not taken for the other",
    "Store and broker issue no tokens; the template does",
  ),
  row("RF-9", "An outage at the vendor ends no grant", `${STORE}/refresh-outage.test.ts`),
  row("RV-1", "A record ends here before the vendor is told", `${STORE}/token-store.test.ts`),
  row(
    "RV-2",
    "What a vendor answers to a revocation has one meaning",
    "packages/oauth-core/src/vendor-client/revoke-tokens.test.ts",
    "e2e/scenarios/errors-revoke.test.ts",
  ),
  elsewhere(
    "RV-3",
    "Nobody revokes what is not his",
    "The connection of a revocation is checked as that of a refresh: RF-7",
  ),
  twin(
    "RV-4",
    "A revocation wins over a refresh under way",
    `${STORE}/refresh-lease.twin.test.ts`,
    `${STORE}/refresh-fence.test.ts`,
    `${STORE}/token-records.test.ts`,
  ),
];
