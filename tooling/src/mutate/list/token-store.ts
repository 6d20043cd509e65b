/** Defences of tokens at rest and their refresh. Part of list.ts. */
import type { DefencesByFile } from "../mutation.ts";

export const TOKEN_STORE_DEFENCES: DefencesByFile = {
  "packages/token-store/src/crypto/encoding.ts": {
    "The parts of a place are length-prefixed": {
      rows: ["TS-3"],
      find: "at = bytes.writeUInt32BE(written, at) + written;",
      replace: "at = bytes.writeUInt32BE(0, at) + written;",
      tests: ["packages/token-store/src/crypto/envelope.test.ts"],
    },
  },
  "packages/token-store/src/crypto/envelope.ts": {
    "An envelope has one spelling": {
      rows: ["TS-1"],
      find: "const bytes = decodeCanonical(sealed);",
      replace: "const bytes = sealed === '' ? decodeCanonical(sealed) : Buffer.from(sealed, 'base64url');",
    },
  },
  "packages/token-store/src/crypto/aes-gcm.ts": {
    "An IV is used once": {
      rows: ["TS-6"],
      find: "  poolUsed += IV_BYTES;\n  return Buffer.from(pool.subarray(poolUsed - IV_BYTES, poolUsed));",
      replace: "  return Buffer.from(pool.subarray(poolUsed, poolUsed + IV_BYTES));",
    },
  },
  "packages/token-store/src/tokens/token-sealing.ts": {
    "A sealed field is bound to its row, user, issuer and version": {
      rows: ["TS-3", "TS-19"],
      find: "environment, table, key.pk, key.sk, field, issuer, String(version), mark];",
      replace: "environment, table, typeof key.pk, typeof key.sk, field, issuer, String(version), mark];",
      tests: ["packages/token-store/src/tokens/token-records.test.ts"],
    },
  },
  "packages/token-store/src/keys/kms-key-id.ts": {
    "A data key belongs to a KMS key of our own account": {
      rows: ["TS-4"],
      find: "return key.account === owner.account && key.partition === owner.partition;",
      replace: "return key.account !== '' && key.partition === owner.partition;",
      tests: ["packages/token-store/src/keys/kms-answers.test.ts"],
    },
  },
  "packages/token-store/src/modes/encrypted.ts": {
    "Mode encrypted uses no plaintext": {
      rows: ["TS-7"],
      find: 'if (sealed === undefined) return { refused: "plaintext_only" };',
      replace:
        'if (sealed === undefined) return copy === undefined ? { refused: "plaintext_only" } : { tokens: copy, reseal: false };',
    },
  },
  "packages/token-store/src/modes/bridge.ts": {
    "Mode bridge detects a changed copy": {
      rows: ["TS-8"],
      find: "if (copy === undefined || isSameCopy(sealed, copy)) return",
      replace: "if (copy === undefined || isSameCopy(sealed, copy) || sealed !== copy) return",
    },
    "Plaintext does not return to a row without it": {
      rows: ["TS-11"],
      find: 'writesCopy: (mark) => mark !== "encrypted",',
      replace: "writesCopy: () => true,",
    },
  },
  "packages/token-store/src/keys/data-keys-kept.ts": {
    "A data key lives five minutes": {
      rows: ["TS-13"],
      find: "return age >= 0 && age < maxAgeSeconds;",
      replace: "return age >= 0 && age < maxAgeSeconds * 100;",
      tests: ["packages/token-store/src/keys/data-keys.test.ts"],
    },
  },
  "packages/token-store/src/tokens/version-watch.ts": {
    "An old row put back is detected by a process that has seen a newer one": {
      rows: ["TS-19"],
      find: "return version < highest;",
      replace: "return version < highest - highest;",
      tests: ["packages/token-store/src/tokens/token-records.test.ts"],
    },
  },
  "packages/token-store/src/refresh/lease.ts": {
    "A running lease is respected": {
      rows: ["RF-1", "8.2-2"],
      find: "return lease !== undefined && now < lease.until;",
      replace: "return lease !== undefined && now < lease.until - lease.until;",
      tests: ["packages/token-store/src/refresh/refresh.test.ts"],
    },
    "A process that was suspended beyond its lease makes no request": {
      rows: ["8.2-3"],
      find: "if (isInTime(startedMs, { timer, times })) return attempt;",
      replace: "if (isInTime(startedMs, { timer, times }) || startedMs >= 0) return attempt;",
      tests: ["packages/token-store/src/refresh/attempt.test.ts"],
    },
  },
  "packages/token-store/src/refresh/vendor-call.ts": {
    "A refusal counts only if no other process has refreshed": {
      rows: ["RF-4"],
      find: "  return isSame && lease?.owner === ours.owner;",
      replace: "  return isSame || lease?.owner !== ours.owner;",
      tests: ["packages/token-store/src/refresh/failure.test.ts"],
    },
  },
  "packages/token-store/src/refresh/commit.ts": {
    "An answer without a refresh token keeps the old one": {
      rows: ["RF-2"],
      find: "refreshToken: answer.refreshToken ?? sent,",
      replace: "...(answer.refreshToken === undefined ? {} : { refreshToken: sent }),",
      tests: ["packages/token-store/src/refresh/attempt.test.ts"],
    },
  },
  "packages/token-store/src/storage/sqlite/statements.ts": {
    "A record is changed only where it is still the one that was read": {
      find: "and stage = ? and data = ? and expires_at = ? and keep_until = ?`",
      replace: "and ? <> '-' and ? <> '-' and ? <> '-' and ? <> '-'`",
      tests: ["packages/token-store/src/storage/sqlite/record-store.test.ts"],
    },
  },
  "packages/token-store/src/storage/sqlite/engine.ts": {
    "Writes that share a transaction all fail where SQLite undid it": {
      find: "if (isBusy(error) || !db.isTransaction) throw error;",
      replace: "if (isBusy(error) || !db.isOpen) throw error;",
    },
  },
};
