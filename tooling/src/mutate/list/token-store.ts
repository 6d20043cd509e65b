/** Defences of packages/token-store/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const TOKEN_STORE_DEFENCES: Defences = {
  "cli/issuers/check.ts": {
    "migrate: Migrate seals nothing for an issuer that was typed and cannot be checked":
      'return [-isConfigured(vendor, issuer, program) ? {} : { [vendor]: "unchecked" -]{+{+}};',
    "migrate: Migrate seals nothing for an issuer that does not open what is sealed":
      '? {} : {[- [vendor]: "unopened" -]};',
  },
  "cli/strip.ts": {
    "strip-file: Strip does not report success while the log could not be emptied": "resultOf(passes[-, !isErased-])",
  },
  "crypto/canonical-json.ts": {
    "The MAC does not depend on the order in which an engine returns fields":
      "for (const name of Object.keys(value)[-.toSorted()-]) {",
  },
  "crypto/encoding.ts": {
    "envelope: The parts of an envelope's place are length-prefixed":
      '{+if (length > 0) return Buffer.from(context.join(""));\n  +}const bytes = Buffer.allocUnsafe',
    "bar#TS-3 The parts of a place are length-prefixed": "at = bytes.writeUInt32BE([-written-]{+0+}, at) + written;",
  },
  "crypto/envelope.ts": {
    "bar#TS-1 An envelope has one spelling":
      "const bytes = {+sealed === '' ? +}decodeCanonical(sealed){+ : Buffer.from(sealed, 'base64url')+};",
  },
  "crypto/record-mac.ts": {
    "authenticated-records, record-mac: A record counts only with a MAC made under the server key":
      "expected.length [-=== actual.length &&-]{+> 0 ||+}",
    "authenticated-records, record-mac: A row without a MAC is not a record":
      'if (typeof mac !== "string") return [-false-]{+mac === undefined+};',
    "authenticated-records, record-mac: The MAC covers every field of a record":
      "canonicalJson(data){+.slice(0, 0)+}];",
    "authenticated-records: The MAC covers the kind of a record": "[FORMAT, kind{+.slice(0, 0)+}, id,",
    "authenticated-records, hosted/table-writer: The MAC covers the id of a record":
      "kind, id{+.slice(0, 0)+}, stage, String",
    "authenticated-records, hosted/table-writer: The MAC covers the stage of a record":
      "id, stage{+.slice(0, 0)+}, String(expiresAt)",
    "authenticated-records, hosted/table-writer: The MAC covers the expiry of a record":
      "String(expiresAt){+.slice(0, 0)+}, canonicalJson",
  },
  "links.ts": {
    "bar#LK-9 What is forgotten is a link that has ended":
      'if (row === undefined[- || statusOf(row.attributes) !== "revoked"-]',
    "bar#LK-9 A link made while another is forgotten stays": '(row.attributes, [[-"version", "status", LINK_VERSION-]',
    "token-store: Tokens that are revoked unread are those that could not be read":
      ': { status: "revoked" } }, [-expected-]{+{}+})',
  },
  "modes/bridge.ts": {
    "bar#TS-8 Mode bridge detects a changed copy": "=== undefined || isSameCopy(sealed, copy){+ || sealed !== copy+})",
    "bridge, strip: bar#TS-11 Plaintext does not return to a row without it":
      'writesCopy: ([-mark) => mark !== "encrypted"-]{+) => true+},',
  },
  "modes/encrypted.ts": {
    "bar#TS-7 Mode encrypted uses no plaintext":
      'if (sealed === undefined) [-throw new TokenStoreError("unreadable", { detail: PLAINTEXT_ONLY })-]{+return { tokens: copy, reseal: false }+};',
  },
  "refresh/commit.ts": {
    "bar#RF-2 An answer without a refresh token keeps the old one":
      "{+...(answer.+}refreshToken[-: answer.-]{+ === undefined ? {} : { +}refreshToken[- ?? sent-]{+: sent })+}",
  },
  "refresh/journal.ts": {
    "left-behind: A journal file that cannot be read fails closed for its row":
      'onEvent({ name: "journal_unreadable", path: file });\n      [-throw error-]{+return undefined+};',
  },
  "refresh/record-lease.ts": {
    "bar#8.2-3 A process that was suspended beyond its lease makes no request":
      "if (isInTime(startedMs, { timer, times }){+ || startedMs >= 0+}) return attempt;",
  },
  "refresh/orphans.ts": {
    "commit: The journal keeps no plaintext copy":
      "withoutCopy(pending.change){+ === undefined ? undefined : pending.change+}",
  },
  "refresh/refresh.ts": {
    "links: Callers of two sign-ins do not share a read": "[user, vendor, issuer, signIn?.vendor[-, signIn?.issuer-]]",
  },
  "refresh/vendor-call.ts": {
    "bar#RF-4 A refusal counts only if no other process has refreshed":
      "return isSame [-&& lease?.owner ===-]{+|| lease?.owner !==+} ours.owner;",
  },
  "storage/authenticated-records.ts": {
    "authenticated-records, hosted/table-writer: A get verifies the MAC of what it read":
      "=> (await [-open(await records.get(name, options))-]{+records.get(name, options).then((row) => row && { record: { ...row, data: (({ mac: _, ...data }) => data)(row.data) } })+})?.record",
    "A MAC counts again only for the row that it was verified in":
      "known !== undefined [-&& isSameRecord(row, known.row)-];",
    "An advance verifies the MAC of what it read":
      "?? (await [-open(await records.get(name))-]{+records.get(name).then((row) => row && { record: { ...row, data: (({ mac: _, ...data }) => data)(row.data) }, kid: '', text: row.data[MAC] as string })+});",
    "An advance of what was verified before needs a key that still counts":
      "return [-(await keys.find(known.kid)) === undefined ? undefined : -]known;",
    "An advance is one write on the condition of the MAC that was read":
      'const expect = { ...from.expect, [-[MAC]: joinMac(opened)-]{+...(opened.text === "" ? { [MAC]: joinMac(opened) } : {})+} };',
    "The advanced row is compared with what its MAC was made for": "if (isSameRecord(row, [-signed.row-]{+row+}))",
    "Callers cannot name the field that holds the MAC": "if (names.includes([-MAC-]{+`${MAC}s`+})) throw",
  },
  "storage/sqlite/engine.ts": {
    "Writes that share a transaction all fail where SQLite undid it": "|| !db.[-isTransaction-]{+isOpen+}) throw error",
  },
  "storage/sqlite/file.ts": {
    "strip-file: What is deleted or replaced in the SQLite file is zeroed": "pragma secure_delete = [-on-]{+off+};",
    "strip-file: Strip writes the SQLite file anew": 'db.exec("[-vacuum-]{+select 1+}");',
    "strip-file: Strip empties the log of the SQLite file": "pragma wal_checkpoint([-truncate-]{+passive+})",
  },
  "storage/sqlite/statements.ts": {
    "sqlite/record-store: A record is changed only where it is still the one that was read":
      "[-stage = ? and data = ? and expires_at = ? and keep_until = ?-]{+? <> '-' and ? <> '-' and ? <> '-' and ? <> '-'+}",
  },
  "tokens/link-attributes.ts": {
    "links: A link of another sign-in is not found":
      "return made.vendor !== asked.vendor [-||-]{+&&+} made.issuer !== asked.",
  },
  "tokens/row-conditions.ts": {
    "bar#LK-9 An end whose millisecond is not known counts until the end of its second":
      "return isOfSameEnd ? exact : [-lastOf(seconds)-]{+seconds * 1000+};",
  },
  "tokens/row-records.ts": {
    "fence: A commit is fenced by version, status and lease owner":
      'const names = ["[-version", "status", "lease_owner-]{+status+}',
    "token-records, hosted/token-endpoint/revoke: A link that begins while an ended one is deleted stays":
      'await rows.delete(row.key, [-expectAsRead(row.attributes, ["version", "status"])-]{+{}+});',
    "links: A link is stored over the version the user was shown":
      "= over === undefined || over [-===-]{+<=+} linkVersionOf(",
    "refresh/refresh: A lease is taken on the row as it was read": 'status"[-, ...LEASE_ATTRIBUTES-]',
  },
  "tokens/token-sealing.ts": {
    "links: A link is sealed for the sign-in it was made under": '[...at, "sign-in"[-, signIn.vendor, signIn.issuer-]]',
    "token-records: Each field of a row is bound to its own name": "key.pk, key.sk, field{+.slice(0, 0)+}, issuer,",
    "token-records: Each field of a row is bound to its user": "environment, table, key.pk{+.slice(0, 4)+}, key.sk,",
    "token-records: Each field of a row is bound to issuer and version":
      "field, [-issuer, String(version-]{+String(issuer === String(version)+}), mark];",
    "bar#TS-3 bar#TS-19 A sealed field is bound to its row, user, issuer and version":
      "environment, table, [-key.pk,-]{+typeof key.pk, typeof+}",
  },
};
