/** Defences of keysets, the journal and the files of a store. Part of list.ts. */
import type { DefencesByFile } from "../mutation.ts";

export const STORED_KEY_DEFENCES: DefencesByFile = {
  "packages/token-store/src/refresh/refresh.ts": {
    "Before the lease of a dead attempt is taken over, the journal is searched for its answer": {
      find: "  await settleDeadAttempt(current, deps);\n",
      replace: "  if (deps.times.leaseSeconds < 0) await settleDeadAttempt(current, deps);\n",
      tests: ["packages/token-store/src/refresh/left-behind.test.ts"],
    },
    "Callers of two sign-ins do not share a read": {
      find: "[user, vendor, issuer, signIn?.vendor, signIn?.issuer]",
      replace: "[user, vendor, issuer, signIn?.vendor]",
      tests: ["packages/token-store/src/links.test.ts"],
    },
    "A process with an unwritten answer makes no further request": {
      find: 'if (orphans.has(current.row.key)) return { kind: "fenced" };',
      replace: 'if (orphans.has(current.row.key) && current.stored.version < 0) return { kind: "fenced" };',
      tests: ["packages/token-store/src/refresh/commit.test.ts"],
    },
  },
  "packages/token-store/src/refresh/journal.ts": {
    "A journal file that cannot be read fails closed for its row": {
      find: '      onEvent({ name: "journal_unreadable", path: file });\n      throw error;',
      replace: '      onEvent({ name: "journal_unreadable", path: file });\n      return undefined;',
      tests: ["packages/token-store/src/refresh/left-behind.test.ts"],
    },
  },
  "packages/token-store/src/storage/sqlite/file.ts": {
    "What is deleted or replaced in the SQLite file is zeroed": {
      find: "pragma secure_delete = on;",
      replace: "pragma secure_delete = off;",
      tests: ["packages/token-store/src/cli/strip-file.test.ts"],
    },
    "Strip writes the SQLite file anew": {
      find: 'db.exec("vacuum");',
      replace: 'db.exec("select 1");',
      tests: ["packages/token-store/src/cli/strip-file.test.ts"],
    },
    "Strip empties the log of the SQLite file": {
      find: "pragma wal_checkpoint(truncate)",
      replace: "pragma wal_checkpoint(passive)",
      tests: ["packages/token-store/src/cli/strip-file.test.ts"],
    },
  },
  "packages/token-store/src/cli/issuers/check.ts": {
    "Migrate seals nothing for an issuer that was typed and cannot be checked": {
      find: 'return isConfigured(vendor, issuer, program) ? {} : { [vendor]: "unchecked" };',
      replace: "return {};",
      tests: ["packages/token-store/src/cli/migrate.test.ts"],
    },
    "Migrate seals nothing for an issuer that does not open what is sealed": {
      find: '? {} : { [vendor]: "unopened" };',
      replace: "? {} : {};",
      tests: ["packages/token-store/src/cli/migrate.test.ts"],
    },
  },
  "packages/token-store/src/cli/strip.ts": {
    "Strip does not report success while the log could not be emptied": {
      find: "|| !isErased ||",
      replace: "|| (!isErased && dryRun) ||",
      tests: ["packages/token-store/src/cli/strip-file.test.ts"],
    },
  },
  "apps/broker/src/keys/keyset-binding.ts": {
    "A keyset is bound to base_url, region, table and revision": {
      find: '    context: { purpose: "keyset", base_url: baseUrl, environment, table },\n    fields: ["keyset 2", baseUrl, environment, table, String(revision)],',
      replace:
        '    context: { purpose: "keyset" },\n    fields: ["keyset 2", ...(revision < 0 ? [baseUrl, environment, table] : [])],',
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
    "A key file names the base_url it belongs to": {
      find: "  if (found === ours) return;",
      replace: "  if (found === ours || revision >= 0) return;",
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
    "The revision is authenticated": {
      find: "table, String(revision)],",
      replace: "table, String(revision > 0)],",
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
  },
  "apps/broker/src/keys/keyset-floor.ts": {
    "A keyset that is gone is an outage, not a first start": {
      find: "if (lowest === 0) return;",
      replace: "if (lowest >= 0) return;",
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
    "A keyset below the floor is refused": {
      find: "if (revision >= lowest) return;",
      replace: "if (revision >= lowest || lowest > 0) return;",
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
    "The floor outlives the process in a file beside the key": {
      find: "if (file !== undefined && seen > (await kept()))",
      replace: "if (file !== undefined && seen < (await kept()))",
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
    "A process never goes below a revision it has seen": {
      find: "lowest: async () => Math.max(seen, await kept()),",
      replace: "lowest: async () => kept(),",
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
  },
  "apps/broker/src/keys/keyset.ts": {
    "Of two reads of the keyset, the slower does not replace the newer": {
      find: "if (held === undefined || held.revision <= next.revision) held = next;",
      replace: "held = next;",
    },
    "A replaced root makes no MACs of records for ever": {
      find: ', "record-mac": 4_500 }',
      replace: " }",
    },
    "A keyset of release 0.1.0 is bound at the first start": {
      find: "if (stored.revision === 0) await",
      replace: "if (stored.revision < 0) await",
      tests: ["apps/broker/src/keys/keyset-place.test.ts"],
    },
    "Adopting accepts only the revision that the operator names": {
      find: "      if (stored.revision !== revision) {\n",
      replace: "      if (stored.revision < 0) {\n",
      tests: ["apps/broker/src/keys/keyset-place.test.ts", "apps/broker/src/cli/operator.test.ts"],
    },
  },
  "apps/broker/src/app.ts": {
    "The broker's records are authenticated": {
      rows: ["TS-3"],
      find: '    records: stores.records,\n    keyset,\n    onRefused: (kind) => log.warn("record_refused", { reason: kind }),\n  });',
      replace:
        '    records: stores.records,\n    keyset,\n    onRefused: (kind) => log.warn("record_refused", { reason: kind }),\n  });\n  Object.assign(records, stores.records);',
      tests: ["apps/broker/src/flows/table-writer.test.ts", "apps/broker/src/flows/earlier-release.test.ts"],
    },
  },
  "packages/token-store/src/tokens/row-records.ts": {
    "A commit is fenced by version, status and lease owner": {
      find: 'const names = ["version", "status", "lease_owner", ...(mode.heedsCopy ? COPY_ATTRIBUTES : [])];',
      replace: 'const names = ["status", ...(mode.heedsCopy ? COPY_ATTRIBUTES : [])];',
      tests: ["packages/token-store/src/refresh/fence.test.ts"],
    },
    "A link that begins while an ended one is deleted stays": {
      find: 'await rows.delete(row.key, expectAsRead(row.attributes, ["version", "status"]));',
      replace: "await rows.delete(row.key, {});",
      tests: [
        "packages/token-store/src/tokens/token-records.test.ts",
        "packages/mcp-auth/src/hosted/token/revoke.test.ts",
      ],
    },
    "A link is stored over the version the user was shown": {
      find: "const isOver = over === undefined || over === linkVersionOf(attributes, now());",
      replace: "const isOver = over === undefined || over <= linkVersionOf(attributes, now());",
      tests: ["packages/token-store/src/links.test.ts"],
    },
    "A lease is taken on the row as it was read": {
      find: 'const expected = expectAsRead(over.row.attributes, ["version", "status", ...LEASE_ATTRIBUTES]);',
      replace: 'const expected = expectAsRead(over.row.attributes, ["version", "status"]);',
      tests: ["packages/token-store/src/refresh/refresh.test.ts"],
    },
  },
  "packages/token-store/src/tokens/token-sealing.ts": {
    "A link is sealed for the sign-in it was made under": {
      find: '[...at, "sign-in", signIn.vendor, signIn.issuer]',
      replace: '[...at, "sign-in"]',
      tests: ["packages/token-store/src/links.test.ts"],
    },
    "Each field of a row is bound to its own name": {
      find: "key.pk, key.sk, field, issuer,",
      replace: "key.pk, key.sk, field.slice(0, 0), issuer,",
      tests: ["packages/token-store/src/tokens/token-records.test.ts"],
    },
    "Each field of a row is bound to its user": {
      find: "environment, table, key.pk, key.sk,",
      replace: "environment, table, key.pk.slice(0, 4), key.sk,",
      tests: ["packages/token-store/src/tokens/token-records.test.ts"],
    },
    "Each field of a row is bound to issuer and version": {
      find: "field, issuer, String(version), mark];",
      replace: "field, String(issuer === String(version)), mark];",
      tests: ["packages/token-store/src/tokens/token-records.test.ts"],
    },
  },
  "packages/token-store/src/tokens/link-attributes.ts": {
    "A link of another sign-in is not found": {
      find: "  return made.vendor !== asked.vendor || made.issuer !== asked.issuer;",
      replace: "  return made.vendor !== asked.vendor && made.issuer !== asked.issuer;",
      tests: ["packages/token-store/src/links.test.ts"],
    },
  },
  "packages/token-store/src/links.ts": {
    "Tokens that are revoked unread are those that could not be read": {
      find: '{ set: { status: "revoked" } }, expected)',
      replace: '{ set: { status: "revoked" } }, {})',
      tests: ["packages/token-store/src/token-store.test.ts"],
    },
  },
  "packages/token-store/src/refresh/lease.ts": {
    "A held lease is respected": {
      find: "return lease !== undefined && now < lease.until;",
      replace: "return lease !== undefined && now < lease.until - 1e9;",
      tests: ["packages/token-store/src/refresh/refresh.test.ts"],
    },
  },
  "packages/token-store/src/crypto/encoding.ts": {
    "The parts of an envelope's place are length-prefixed": {
      find: "  const bytes = Buffer.allocUnsafe(length);\n",
      replace: '  if (length > 0) return Buffer.from(context.join(""));\n  const bytes = Buffer.allocUnsafe(length);\n',
      tests: ["packages/token-store/src/crypto/envelope.test.ts"],
    },
  },
  "packages/token-store/src/modes/encrypted.ts": {
    "Mode encrypted fails closed on a row without ciphertext": {
      find: 'if (sealed === undefined) return { refused: "plaintext_only" };',
      replace:
        'if (sealed === undefined) return copy === undefined ? { refused: "plaintext_only" } : { tokens: copy, reseal: true };',
    },
  },
  "packages/token-store/src/modes/bridge.ts": {
    "Mode bridge adds no plaintext to a row marked encrypted": {
      find: 'writesCopy: (mark) => mark !== "encrypted",',
      replace: "writesCopy: (mark) => mark !== undefined || mark === undefined,",
      tests: ["packages/token-store/src/modes/bridge.test.ts", "packages/token-store/src/cli/strip.test.ts"],
    },
  },
  "packages/token-store/src/refresh/orphans.ts": {
    "The journal keeps no plaintext copy": {
      find: "const change = withoutCopy(pending.change);",
      replace: "const change = withoutCopy(pending.change) === undefined ? undefined : pending.change;",
      tests: ["packages/token-store/src/refresh/commit.test.ts"],
    },
  },
};
