/**
 * Defences of a server's records and sessions: their MAC, their vendor, the scope of a session.
 * Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

export const SESSION_DEFENCES: readonly Mutation[] = [
  {
    defence: "A record counts only with a MAC made under the server key",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: "return expected.length === actual.length && timingSafeEqual(expected, actual);",
    replace: "return expected.length > 0 || timingSafeEqual(expected, actual);",
    tests: [
      "packages/token-store/src/storage/authenticated-records.test.ts",
      "packages/token-store/src/crypto/record-mac.test.ts",
    ],
  },
  {
    defence: "A row without a MAC is not a record",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: 'if (typeof mac !== "string") return false;',
    replace: 'if (typeof mac !== "string") return mac === undefined;',
    tests: [
      "packages/token-store/src/storage/authenticated-records.test.ts",
      "packages/token-store/src/crypto/record-mac.test.ts",
    ],
  },
  {
    defence: "The MAC covers the kind of a record",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: "[FORMAT, kind, id,",
    replace: "[FORMAT, kind.slice(0, 0), id,",
    tests: ["packages/token-store/src/storage/authenticated-records.test.ts"],
  },
  {
    defence: "The MAC covers the id of a record",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: "kind, id, stage, String",
    replace: "kind, id.slice(0, 0), stage, String",
    tests: [
      "packages/token-store/src/storage/authenticated-records.test.ts",
      "packages/mcp-auth/src/hosted/table-writer.test.ts",
    ],
  },
  {
    defence: "The MAC covers the stage of a record",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: "id, stage, String(expiresAt)",
    replace: "id, stage.slice(0, 0), String(expiresAt)",
    tests: [
      "packages/token-store/src/storage/authenticated-records.test.ts",
      "packages/mcp-auth/src/hosted/table-writer.test.ts",
    ],
  },
  {
    defence: "The MAC covers the expiry of a record",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: "String(expiresAt), canonicalJson",
    replace: "String(expiresAt).slice(0, 0), canonicalJson",
    tests: [
      "packages/token-store/src/storage/authenticated-records.test.ts",
      "packages/mcp-auth/src/hosted/table-writer.test.ts",
    ],
  },
  {
    defence: "The MAC covers every field of a record",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: "canonicalJson(data)];",
    replace: "canonicalJson(data).slice(0, 0)];",
    tests: [
      "packages/token-store/src/storage/authenticated-records.test.ts",
      "packages/token-store/src/crypto/record-mac.test.ts",
    ],
  },
  {
    defence: "The MAC does not depend on the order in which an engine returns fields",
    file: "packages/token-store/src/crypto/record-mac.ts",
    find: "Object.keys(object).toSorted()",
    replace: "Object.keys(object)",
    tests: ["packages/token-store/src/crypto/record-mac.test.ts"],
  },
  {
    defence: "A get verifies the MAC of what it read",
    file: "packages/token-store/src/storage/authenticated-records.ts",
    find: "return row === undefined ? undefined : (await open(row))?.record;",
    replace: "return row === undefined ? undefined : ((await open(row))?.record ?? row);",
    tests: [
      "packages/token-store/src/storage/authenticated-records.test.ts",
      "packages/mcp-auth/src/hosted/table-writer.test.ts",
    ],
  },
  {
    defence: "An advance verifies the MAC of what it read",
    file: "packages/token-store/src/storage/authenticated-records.ts",
    find: "const opened = row === undefined ? undefined : await open(row);",
    replace:
      "const opened = row === undefined ? undefined : ((await open(row)) ?? { record: row, mac: row.data[MAC] as string });",
    tests: ["packages/token-store/src/storage/authenticated-records.test.ts"],
  },
  {
    defence: "An advance is one write on the condition of the MAC that was read",
    file: "packages/token-store/src/storage/authenticated-records.ts",
    find: "const expect = { ...from.expect, [MAC]: mac };",
    replace: 'const expect = { ...from.expect, ...(mac === "" ? { [MAC]: mac } : {}) };',
    tests: ["packages/token-store/src/storage/authenticated-records.test.ts"],
  },
  {
    defence: "The advanced row is verified again",
    file: "packages/token-store/src/storage/authenticated-records.ts",
    find: 'advanced.outcome === "moved" ? await open(advanced.record) : undefined;',
    replace:
      'advanced.outcome === "moved" ? ((await open(advanced.record)) ?? { record: advanced.record }) : undefined;',
    tests: ["packages/token-store/src/storage/authenticated-records.test.ts"],
  },
  {
    defence: "Callers cannot name the field that holds the MAC",
    file: "packages/token-store/src/storage/authenticated-records.ts",
    find: "if (names.includes(MAC)) throw",
    replace: "if (names.includes(`${MAC}s`)) throw",
    tests: ["packages/token-store/src/storage/authenticated-records.test.ts"],
  },
  {
    defence: "A session is refused at another vendor",
    file: "packages/mcp-auth/src/hosted/vendor-links/identity-source.ts",
    find: "one.vendor === other.vendor && one.issuer",
    replace: "one.issuer",
    tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
  },
  {
    defence: "A session is refused at another issuer",
    file: "packages/mcp-auth/src/hosted/vendor-links/identity-source.ts",
    find: "one.vendor === other.vendor && one.issuer === other.issuer",
    replace: "one.vendor === other.vendor",
    tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
  },
  {
    defence: "A session is read only for the source it was opened at",
    file: "packages/mcp-auth/src/hosted/sessions/record.ts",
    find: "if (session === undefined || !isSameSource(session, source)) return undefined;",
    replace: "if (session === undefined || (!isSameSource(session, source) && !session.isLive)) return undefined;",
    tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
  },
  {
    defence: "With several vendors a session ends a fixed time after its sign-in",
    file: "packages/mcp-auth/src/hosted/sessions/record.ts",
    find: "isLive: session.isLive && now() < endsAt",
    replace: "isLive: session.isLive && now() < Infinity",
    tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
  },
  {
    defence: "No access token outlives its session",
    file: "packages/mcp-auth/src/hosted/sessions/token-pair.ts",
    find: "Math.min(now() + ACCESS_TOKEN_LIFETIME_SECONDS, endsAt)",
    replace: "Math.max(now() + ACCESS_TOKEN_LIFETIME_SECONDS, endsAt === Infinity ? 0 : 1)",
    tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
  },
  {
    defence: "A scope of a session from before several vendors is no other vendor's",
    file: "packages/mcp-auth/src/hosted/sessions/record.ts",
    find: "scope: prefixScopes(session.scope, signIn), unprefixedOf: signIn",
    replace: "unprefixedOf: signIn",
    tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
  },
  {
    defence: "A scope that names a vendor is not taken for the only vendor's own",
    file: "packages/mcp-auth/src/hosted/sessions/record.ts",
    find: "return session.linking === true ? undefined : session;",
    replace: "return session;",
    tests: ["packages/mcp-auth/src/hosted/sessions/linking-sessions.test.ts"],
  },
  {
    defence: "A server does not start over the sessions of another sign-in vendor",
    file: "packages/mcp-auth/src/hosted/sessions/sign-in-source.ts",
    find: "if (!adopt) return present;",
    replace: 'if (!adopt && present.vendor === "") return present;',
    tests: ["packages/mcp-auth/src/hosted/sessions/sign-in-source.test.ts"],
  },
  {
    defence: "A session has no more than the user consented to, whatever the sign-in vendor grants",
    file: "packages/mcp-auth/src/hosted/sessions/scope.ts",
    find: "return consented.filter(",
    replace: "return [...consented, ...atSignIn].filter(",
    tests: ["packages/mcp-auth/src/hosted/server-callback/session-scopes.test.ts"],
  },
  {
    defence: "A callback and a code count only for a flow of the present vendor",
    file: "packages/mcp-auth/src/hosted/server-callback/policy.ts",
    find: "return isSameSource(authorization, identitySource(settings)) ? authorization : undefined;",
    replace:
      'return isSameSource(authorization, identitySource(settings)) || authorization.vendor !== "" ? authorization : undefined;',
    tests: [
      "packages/mcp-auth/src/hosted/another-vendor.test.ts",
      "packages/mcp-auth/src/hosted/server-callback/redeem-outages.test.ts",
    ],
  },
  {
    defence: "The index of a user's sessions is one per vendor and issuer",
    file: "packages/mcp-auth/src/hosted/sessions/user-sessions.ts",
    find: "[audience, source.vendor, source.issuer, user]",
    replace: "[audience, source.vendor.slice(0, 0), user]",
    tests: ["packages/mcp-auth/src/hosted/another-vendor.test.ts"],
  },
  {
    defence: "The index of a user's sessions is named under the server key",
    file: "packages/mcp-auth/src/hosted/sessions/user-sessions.ts",
    find: "hmacSha256(key, name)",
    replace: "hmacSha256(key.subarray(0, 0), name)",
    tests: ["packages/mcp-auth/src/storage.test.ts"],
  },
  {
    defence: "An unsealed server key is refused when there is a key to seal it",
    file: "packages/mcp-auth/src/hosted/server-key.ts",
    find: "if (adoptUnsealed) return",
    replace: "if (adoptUnsealed || SERVER_KEY_BYTES > 0) return",
    tests: ["packages/mcp-auth/src/hosted/server-key.test.ts", "packages/mcp-auth/src/hosted/table-writer.test.ts"],
  },
  {
    defence: "An unsealed server key is replaced, not adopted",
    file: "packages/mcp-auth/src/hosted/server-key.ts",
    find: "  const key = replaceUnsealed(options.adoptUnsealed === true);",
    replace:
      '  replaceUnsealed(options.adoptUnsealed === true);\n  const key = requireLength(Buffer.from(plain, "base64url"));',
    tests: ["packages/mcp-auth/src/hosted/server-key.test.ts", "packages/mcp-auth/src/hosted/table-writer.test.ts"],
  },
  {
    defence: "Hosted mode's records are the authenticated ones",
    file: "packages/mcp-auth/src/hosted/server-key.ts",
    find: "    records: authenticatedRecords({ records, keys, ...defined({ onRefused }) }),",
    replace:
      "    records: onRefused === undefined ? authenticatedRecords({ records, keys, ...defined({}) }) : records,",
    tests: ["e2e/attacks/table-writer.attack.test.ts"],
  },
  {
    defence: "A tool that names no scopes runs only where the bearer token permits all of the vendor token",
    file: "packages/mcp-auth/src/mcp/whole-token.ts",
    find: "return scope === undefined || vendorScope.every((token) => scope.includes(token));",
    replace: "return scope === undefined || vendorScope.some((token) => scope.includes(token));",
    tests: ["packages/mcp-auth/src/hosted/vendor-links/shared-link.test.ts"],
  },
  {
    defence: "A call has only the scope of both session and link",
    file: "packages/mcp-auth/src/hosted/gate.ts",
    find: "return { scope: scope.filter((token) => vendorScope.includes(token)), vendorScope };",
    replace: "return { scope, vendorScope };",
    tests: ["packages/mcp-auth/src/hosted/vendor-links/shared-link.test.ts"],
  },
  {
    defence: "A link without a known scope may permit everything requested",
    file: "packages/mcp-auth/src/hosted/gate.ts",
    find: "return { scope, vendorScope: settings.vendor.scopes };",
    replace: "return { scope, vendorScope: settings.vendor.scopes.slice(0, 0) };",
    tests: ["packages/mcp-auth/src/hosted/vendor-links/shared-link.test.ts"],
  },
  {
    defence: "A narrower sign-in does not change the link",
    file: "packages/mcp-auth/src/hosted/vendor-links/link.ts",
    find: "return isWithin && scope.some(",
    replace: "return isWithin && now < 0 && scope.some(",
    tests: ["packages/mcp-auth/src/hosted/vendor-links/shared-link.test.ts"],
  },
  {
    defence:
      "At a vendor that returns no scope, a narrower request with the platform's callback is granted what it requested",
    file: "packages/mcp-auth/src/hosted/platform-callback/narrow-request.ts",
    find: 'typeof narrow === "string" ?',
    replace: 'typeof narrow === "string" && narrow === "" ?',
    tests: ["packages/mcp-auth/src/hosted/platform-callback/narrow-request.test.ts"],
  },
  {
    defence: "The requested scope of a flow is recorded once",
    file: "packages/mcp-auth/src/hosted/platform-callback/narrow-request.ts",
    find: "  await records.create({",
    replace: "  await records.delete(keyOf(codeChallenge));\n  await records.create({",
    tests: ["packages/mcp-auth/src/hosted/platform-callback/narrow-request.test.ts"],
  },
  {
    defence: "A dead link is not kept",
    file: "packages/mcp-auth/src/hosted/vendor-links/link.ts",
    find: 'return status === "active" && (',
    replace: 'return status !== "revoked" && (',
    tests: ["packages/mcp-auth/src/hosted/vendor-links/shared-link.test.ts"],
  },
  {
    defence: "A link that is wider only by scopes no longer requested is not kept",
    file: "packages/mcp-auth/src/hosted/vendor-links/link.ts",
    find: "vendorScopes.includes(token) && !granted",
    replace: "vendorScopes.length >= 0 && !granted",
    tests: ["packages/mcp-auth/src/hosted/vendor-links/shared-link.test.ts"],
  },
  {
    defence: "A call gets no token with more scope than the link had when the call was admitted",
    file: "packages/mcp-auth/src/hosted/vendor-links/token-source.ts",
    find: "linkScope(tokens)?.every((token) => admitted.includes(token)) !== false;",
    replace: "linkScope(tokens)?.every((token) => admitted.includes(token)) !== null;",
    tests: ["packages/mcp-auth/src/hosted/vendor-links/shared-link.test.ts"],
  },
];
