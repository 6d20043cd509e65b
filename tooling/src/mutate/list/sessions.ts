/**
 * Defences of a server's records and sessions: their MAC, their vendor, the scope of a session.
 * Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const SESSION_DEFENCES: DefencesByFile = {
  "packages/token-store/src/crypto/record-mac.ts": {
    "A record counts only with a MAC made under the server key": {
      find: "return expected.length === actual.length && timingSafeEqual(expected, actual);",
      replace: "return expected.length > 0 || timingSafeEqual(expected, actual);",
      tests: [
        "packages/token-store/src/storage/authenticated-records.test.ts",
        "packages/token-store/src/crypto/record-mac.test.ts",
      ],
    },
    "A row without a MAC is not a record": {
      find: 'if (typeof mac !== "string") return false;',
      replace: 'if (typeof mac !== "string") return mac === undefined;',
      tests: [
        "packages/token-store/src/storage/authenticated-records.test.ts",
        "packages/token-store/src/crypto/record-mac.test.ts",
      ],
    },
    "The MAC covers the kind of a record": {
      find: "[FORMAT, kind, id,",
      replace: "[FORMAT, kind.slice(0, 0), id,",
      tests: ["packages/token-store/src/storage/authenticated-records.test.ts"],
    },
    "The MAC covers the id of a record": {
      find: "kind, id, stage, String",
      replace: "kind, id.slice(0, 0), stage, String",
      tests: [
        "packages/token-store/src/storage/authenticated-records.test.ts",
        "packages/mcp-auth/src/hosted/table-writer.test.ts",
      ],
    },
    "The MAC covers the stage of a record": {
      find: "id, stage, String(expiresAt)",
      replace: "id, stage.slice(0, 0), String(expiresAt)",
      tests: [
        "packages/token-store/src/storage/authenticated-records.test.ts",
        "packages/mcp-auth/src/hosted/table-writer.test.ts",
      ],
    },
    "The MAC covers the expiry of a record": {
      find: "String(expiresAt), canonicalJson",
      replace: "String(expiresAt).slice(0, 0), canonicalJson",
      tests: [
        "packages/token-store/src/storage/authenticated-records.test.ts",
        "packages/mcp-auth/src/hosted/table-writer.test.ts",
      ],
    },
    "The MAC covers every field of a record": {
      find: "canonicalJson(data)];",
      replace: "canonicalJson(data).slice(0, 0)];",
      tests: [
        "packages/token-store/src/storage/authenticated-records.test.ts",
        "packages/token-store/src/crypto/record-mac.test.ts",
      ],
    },
  },
  "packages/token-store/src/crypto/canonical-json.ts": {
    "The MAC does not depend on the order in which an engine returns fields": {
      find: "return isInOrder(value) ? JSON.stringify(value) : reorderedJson(value);",
      replace: "return JSON.stringify(value);",
    },
  },
  "packages/token-store/src/storage/authenticated-records.ts": {
    "A get verifies the MAC of what it read": {
      find: "return row === undefined ? undefined : (await open(row))?.record;",
      replace: "return row === undefined ? undefined : ((await open(row))?.record ?? row);",
      tests: [
        "packages/token-store/src/storage/authenticated-records.test.ts",
        "packages/mcp-auth/src/hosted/table-writer.test.ts",
      ],
    },
    "An advance verifies the MAC of what it read": {
      find: "const opened = row === undefined ? undefined : await open(row);",
      replace:
        "const opened = row === undefined ? undefined : ((await open(row)) ?? { record: row, mac: row.data[MAC] as string });",
    },
    "An advance is one write on the condition of the MAC that was read": {
      find: "const expect = { ...from.expect, [MAC]: mac };",
      replace: 'const expect = { ...from.expect, ...(mac === "" ? { [MAC]: mac } : {}) };',
    },
    "The advanced row is compared with what its MAC was made for": {
      find: "if (isSameRecord(moved, next)) return",
      replace: "if (isSameRecord(moved, moved)) return",
    },
    "Callers cannot name the field that holds the MAC": {
      find: "if (names.includes(MAC)) throw",
      replace: "if (names.includes(`${MAC}s`)) throw",
    },
  },
  "packages/mcp-auth/src/hosted/records/identity-source.ts": {
    "A session is refused at another vendor": {
      find: "one.vendor === other.vendor && one.issuer",
      replace: "one.issuer",
      tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
    },
    "A session is refused at another issuer": {
      find: "one.vendor === other.vendor && one.issuer === other.issuer",
      replace: "one.vendor === other.vendor",
      tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/sessions/record.ts": {
    "A session is read only for the source it was opened at": {
      find: "if (session === undefined || !isSameSource(session, source)) return undefined;",
      replace: "if (session === undefined || (!isSameSource(session, source) && !session.isLive)) return undefined;",
      tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
    },
    "With several vendors a session ends a fixed time after its sign-in": {
      find: "isLive: session.isLive && now() < endsAt",
      replace: "isLive: session.isLive && now() < Infinity",
      tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
    },
    "A session is read only in the generation it began in": {
      find: "if (!(await isOfPresentSignIn(session, reading))) return undefined;",
      replace: 'if (!(await isOfPresentSignIn(session, reading)) && session.id === "") return undefined;',
      tests: ["packages/mcp-auth/src/hosted/sessions/sign-in-source.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/sessions/token-pair.ts": {
    "No access token outlives its session": {
      find: "Math.min(now() + ACCESS_TOKEN_LIFETIME_SECONDS, endsAt)",
      replace: "Math.max(now() + ACCESS_TOKEN_LIFETIME_SECONDS, endsAt === Infinity ? 0 : 1)",
      tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/link-policy/link-policy.ts": {
    "A scope of a session from before several vendors is no other vendor's": {
      find: "scope: prefixScopes(scope, signIn), unprefixedOf: signIn",
      replace: "scope, unprefixedOf: signIn",
      tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
    },
    "A scope that names a vendor is not taken for the only vendor's own": {
      find: "(linking === true ? undefined : { scope })",
      replace: "({ scope })",
      tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/sessions/refresh.ts": {
    "Of the scopes that a session lacks a refresh ignores offline_access alone": {
      find: "withoutIgnored(named, ignorable, session.scope)",
      replace: "withoutIgnored(named, named.slice(ignorable.length > 0 ? 0 : 1), session.scope)",
      tests: ["packages/mcp-auth/src/hosted/offline-access.test.ts"],
    },
    "A session is refreshed only while the index of its user lists it": {
      rows: ["TS-19"],
      find: "const listedUntil = await deps.index.listedUntil(session.user, session.id);",
      replace: "const listedUntil = (await deps.index.listedUntil(session.user, session.id)) ?? session.indexedUntil;",
      tests: ["packages/mcp-auth/src/hosted/restored-rows.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/sessions/sign-in-source.ts": {
    "A server does not start over the sessions of another sign-in vendor": {
      find: "if (!adopt) return present;",
      replace: 'if (!adopt && present.vendor === "") return present;',
    },
    "Adopting a sign-in vendor raises the generation": {
      find: "(endsSessions ? 1 : 0)",
      replace: "(endsSessions ? 0 : 0)",
    },
  },
  "packages/mcp-auth/src/hosted/sessions/user-sessions.ts": {
    "A refresh puts no session on the index of its user": {
      find: "        if (listed === undefined) return { result: undefined };\n        const until = now() + ENTRY_SECONDS;",
      replace:
        "        const until = now() + ENTRY_SECONDS;\n        if (listed === undefined) return { entries: [...entries, { id, startedAt: now(), until }], result: until };",
      tests: ["packages/mcp-auth/src/hosted/restored-rows.test.ts"],
    },
    "The index of a user's sessions is one per vendor and issuer": {
      find: "[audience, source.vendor, source.issuer, user]",
      replace: "[audience, source.vendor.slice(0, 0), user]",
      tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
    },
    "The index of a user's sessions is named under the server key": {
      find: "hmacSha256(key, name)",
      replace: "hmacSha256(key.subarray(0, 0), name)",
      tests: ["packages/mcp-auth/src/storage.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/sessions/sign-in-generation.ts": {
    "A session or sign-in of before an adoption counts at no later one": {
      find: "return began >= (await signInGeneration());",
      replace: "return began >= 0 || (await signInGeneration()) < 0;",
      tests: ["packages/mcp-auth/src/hosted/sessions/sign-in-source.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/pages/sign-ins.ts": {
    "A cookie of the pages counts only while the record of its user's sign-ins is there": {
      rows: ["TS-19"],
      find: 'since !== undefined && end?.data["since"] !== since',
      replace: 'since !== undefined && since === ""',
      tests: ["packages/mcp-auth/src/hosted/restored-rows.test.ts"],
    },
    "A cookie of the pages counts only in the generation it began in": {
      find: "|| !(await isOfPresentSignIn(signIn, deps))) return undefined;",
      replace: '|| (!(await isOfPresentSignIn(signIn, deps)) && signIn.user === "")) return undefined;',
      tests: ["packages/mcp-auth/src/hosted/sessions/sign-in-source.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/link-policy/scope.ts": {
    "A session has no more than the user consented to, whatever the sign-in vendor grants": {
      find: "return consented.filter(",
      replace: "return [...consented, ...atSignIn].filter(",
      tests: ["packages/mcp-auth/src/hosted/server-callback/session-scopes.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/server-callback/policy.ts": {
    "A callback and a code count only for a flow of the present vendor": {
      find: "return isSameSource(authorization, identitySource(settings)) ? authorization : undefined;",
      replace:
        'return isSameSource(authorization, identitySource(settings)) || authorization.vendor !== "" ? authorization : undefined;',
      tests: [
        "packages/mcp-auth/src/hosted/another-vendor.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/redeem-outages.test.ts",
      ],
    },
  },
  "packages/mcp-auth/src/hosted/records/server-key.ts": {
    "An unsealed server key is refused when there is a key to seal it": {
      find: "if (adoptUnsealed) return",
      replace: "if (adoptUnsealed || SERVER_KEY_BYTES > 0) return",
      tests: [
        "packages/mcp-auth/src/hosted/records/server-key.test.ts",
        "packages/mcp-auth/src/hosted/table-writer.test.ts",
      ],
    },
    "An unsealed server key is replaced, not adopted": {
      find: "  const key = replaceUnsealed(options.adoptUnsealed === true);",
      replace:
        '  replaceUnsealed(options.adoptUnsealed === true);\n  const key = requireLength(Buffer.from(plain, "base64url"));',
      tests: [
        "packages/mcp-auth/src/hosted/records/server-key.test.ts",
        "packages/mcp-auth/src/hosted/table-writer.test.ts",
      ],
    },
    "Hosted mode's records are the authenticated ones": {
      find: "    records: authenticatedRecords({ records, keys, ...defined({ onRefused }) }),",
      replace:
        "    records: onRefused === undefined ? authenticatedRecords({ records, keys, ...defined({}) }) : records,",
      tests: ["e2e/attacks/table-writer.attack.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/admission/whole-token.ts": {
    "A tool that names no scopes runs only where the bearer token permits all of the vendor token": {
      find: "return scope === undefined || vendorScope.every((token) => scope.includes(token));",
      replace: "return scope === undefined || vendorScope.some((token) => scope.includes(token));",
      tests: ["packages/mcp-auth/src/hosted/links/shared-link.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/authenticate.ts": {
    "A call has only the scope of both session and link": {
      find: "return { scope: scope.filter((token) => vendorScope.includes(token)), vendorScope };",
      replace: "return { scope, vendorScope };",
      tests: ["packages/mcp-auth/src/hosted/links/shared-link.test.ts"],
    },
    "A link without a known scope may permit everything requested": {
      find: "return { scope, vendorScope: settings.vendor.scopes };",
      replace: "return { scope, vendorScope: settings.vendor.scopes.slice(0, 0) };",
      tests: ["packages/mcp-auth/src/hosted/links/shared-link.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/links/link.ts": {
    "A narrower sign-in does not change the link": {
      find: "return isWithin && scope.some(",
      replace: "return isWithin && now < 0 && scope.some(",
      tests: ["packages/mcp-auth/src/hosted/links/shared-link.test.ts"],
    },
    "A dead link is not kept": {
      find: 'return status === "active" && (',
      replace: 'return status !== "revoked" && (',
      tests: ["packages/mcp-auth/src/hosted/links/shared-link.test.ts"],
    },
    "A link that is wider only by scopes no longer requested is not kept": {
      find: "vendorScopes.includes(token) && !granted",
      replace: "vendorScopes.length >= 0 && !granted",
      tests: ["packages/mcp-auth/src/hosted/links/shared-link.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/platform-callback/narrow-request.ts": {
    "At a vendor that returns no scope, a narrower request with the platform's callback is granted what it requested": {
      find: 'typeof narrow === "string" ?',
      replace: 'typeof narrow === "string" && narrow === "" ?',
    },
    "The requested scope of a flow is recorded once": {
      find: "  await records.create({",
      replace: "  await records.delete(keyOf(codeChallenge));\n  await records.create({",
    },
  },
  "packages/mcp-auth/src/hosted/links/token-source.ts": {
    "A call gets no token with more scope than the link had when the call was admitted": {
      find: "linkScope(tokens)?.every((token) => admitted.includes(token)) !== false;",
      replace: "linkScope(tokens)?.every((token) => admitted.includes(token)) !== null;",
      tests: ["packages/mcp-auth/src/hosted/links/shared-link.test.ts"],
    },
  },
};
