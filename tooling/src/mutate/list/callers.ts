/**
 * Defences of a server by the address and the token of a caller, and of accounts from userinfo.
 * Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const CALLER_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/mcp/admission/refused-tokens.ts": {
    "A bearer token refused on /mcp counts against its address": {
      find: "      refusals.add(address);\n    }\n    return undefined;",
      replace: "    }\n    return undefined;",
    },
    "Concurrent unknown bearer tokens together stay within the limit": {
      find: "return refusals.left(address);",
      replace: "return Infinity;",
    },
    "A bearer token that was valid before passes whatever else its address sends": {
      find: "if (good.has(token) || isCounted(key)) return",
      replace: "if (isCounted(key)) return",
    },
    "A refused bearer token counts once in a minute": {
      find: "    if (!isCounted(key)) {",
      replace: "    if (now() > 0) {",
    },
    "A vendor's answer that cannot be understood counts like a refused token": {
      find: 'if (toOAuthError(error).code === "vendor_response_invalid") refusals.add(address);',
      replace: "void toOAuthError(error);",
    },
    "Unknown bearer tokens under way are bounded over all addresses": {
      find: "most: MOST_UNDER_WAY,",
      replace: "most: 1_000 * MOST_UNDER_WAY,",
    },
    "The queue of unvalidated bearer tokens is bounded": {
      find: "mostWaiting: MOST_WAITING,",
      replace: "mostWaiting: 1_000 * MOST_WAITING,",
    },
  },
  "packages/mcp-auth/src/pre-registered/authenticate.ts": {
    "Results of refused vendor tokens do not evict those of valid ones": {
      find: "const [into, outOf] = validation.active ? [good, refused] : [refused, good];",
      replace: "const [into, outOf] = [good, refused];",
    },
    "A refused vendor token is not validated again for a minute": {
      find: "validation.active ? VALIDATION_SECONDS : REFUSED_SECONDS",
      replace: "VALIDATION_SECONDS",
    },
    "A burst of one vendor token makes one call to the vendor": {
      find: "keptOf(key) ?? asked.get(key) ?? ask(token, key)",
      replace: "keptOf(key) ?? ask(token, key)",
    },
    "The validation result of a vendor token expires with the token": {
      find: 'return isOver ? { active: false, reason: "expired" } : validation;',
      replace: "return isOver ? validation : validation;",
    },
  },
  "packages/oauth-core/src/mechanics/expiring-map.ts": {
    "A map that unauthenticated callers fill evicts the least recently used entry": {
      find: "maxSize: mostEntries,",
      replace: "maxSize: mostEntries + 100_000,",
      tests: [
        "packages/mcp-auth/src/pre-registered/authenticate.test.ts",
        "packages/oauth-core/src/mechanics/expiring-map.test.ts",
      ],
    },
    "A cached entry expires at its second": {
      find: "{ ttl: seconds * 1000 - 1 }",
      replace: "{ ttl: seconds * 1000 }",
    },
  },
  "packages/mcp-auth/src/hosted/routes.ts": {
    "Requests at the OAuth paths are limited per address": {
      find: "      requests.take(address);\n",
      replace: "",
      tests: ["packages/mcp-auth/src/hosted/rate-limit.test.ts"],
    },
    "Refused requests at /token and /revoke count, successes and outages do not": {
      find: "if (REFUSED_REQUESTS.has(route.path) && !isRefused) requests.takeBack(address);",
      replace: "if (REFUSED_REQUESTS.has(route.path) || isRefused) requests.takeBack(address);",
      tests: ["packages/mcp-auth/src/hosted/rate-limit.test.ts"],
    },
    "Registrations are limited per address": {
      find: "        registrations.take(addressOf(c));\n",
      replace: "",
      tests: [
        "packages/mcp-auth/src/hosted/rate-limit.test.ts",
        "packages/mcp-auth/src/hosted/clients/registration.test.ts",
      ],
    },
  },
  "packages/mcp-auth/src/caller-address.ts": {
    "Addresses of one IPv6 /64 count as one caller": {
      find: "return networkOf(caller);",
      replace: 'return networkOf("") + caller;',
      tests: ["packages/mcp-auth/src/hosted/rate-limit.test.ts"],
    },
    "A forwarded address is accepted only from trusted proxies": {
      find: 'if (!isTrusted(caller) || before === "") break;',
      replace: 'if (isTrusted("") || before === "") break;',
      tests: ["packages/mcp-auth/src/hosted/rate-limit.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/clients/unused-clients.ts": {
    "Beyond the limit of unused clients the oldest is deleted": {
      find: "await forgetUnused(oldest, { records, now });",
      replace: "void [forgetUnused, oldest, now];",
      tests: [
        "packages/mcp-auth/src/hosted/clients/unused-clients.test.ts",
        "packages/mcp-auth/src/hosted/clients/registration.test.ts",
      ],
    },
  },
  "packages/mcp-auth/src/hosted/clients/registration.ts": {
    "A registered client that got tokens is never deleted for new ones": {
      find: 'if (outcome === "moved") await records.delete(key);',
      replace: "if (outcome !== undefined) await records.delete(key);",
      tests: [
        "packages/mcp-auth/src/hosted/clients/unused-clients.test.ts",
        "packages/mcp-auth/src/hosted/clients/registration.test.ts",
      ],
    },
  },
  "packages/service/src/change-record.ts": {
    "Each registration takes a slot of its own, over all processes": {
      find: 'if (outcome === "moved") return result;',
      replace: "if (outcome !== undefined) return result;",
      tests: ["packages/mcp-auth/src/hosted/clients/unused-clients.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/access-token/introspect.ts": {
    "A token for which the vendor names no client is refused": {
      find: "return clients.length > 0 && clients.every(",
      replace: "return clients.every(",
      tests: [
        "packages/oauth-core/src/vendor-client/access-token/issued-to.test.ts",
        "packages/oauth-core/src/vendor-client/access-token/introspect.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/vendor-client/access-token/validate.ts": {
    "A vendor that cannot name the client of a token validates none when a client is expected": {
      find: "  if (credentials !== undefined && check === undefined && !introspects) return false;\n",
      replace: "",
      tests: [
        "packages/oauth-core/src/vendor-client/access-token/validate.test.ts",
        "packages/mcp-auth/src/config/refusals.test.ts",
      ],
    },
    "A token of another client is refused": {
      find: "if (!isIssuedTo(clients, credentials)) return",
      replace: "if (!isIssuedTo(clients, undefined)) return",
    },
  },
  "packages/oauth-core/src/vendor-client/userinfo/userinfo.ts": {
    "Userinfo names the subject of the ID token": {
      rows: ["UI-1"],
      find: "subject ?? skipSubjectCheck, reread",
      replace: 'subject === "" ? subject : skipSubjectCheck, reread',
      tests: [
        "packages/oauth-core/src/vendor-client/userinfo/userinfo.test.ts",
        "packages/oauth-core/src/vendor-client/userinfo/identify.test.ts",
      ],
    },
    "Userinfo that is not a JSON object is refused, a JWT included": {
      rows: ["UI-2"],
      find: "  const answer = await readObject(response, CALL);\n  if (saysInvalidToken(response, answer)) return undefined;\n  if (acceptsOwnNames",
      replace:
        '  const text = await response.text();\n  const answer = JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString() || text) as JsonObject;\n  if (saysInvalidToken(response, answer)) return undefined;\n  if (acceptsOwnNames',
    },
  },
  "packages/oauth-core/src/vendor-client/userinfo/identify.ts": {
    "The account of new tokens is read from userinfo and compared with the ID token's subject": {
      rows: ["UI-1"],
      find: "{ accessToken, subject: idToken?.subject,",
      replace: '{ accessToken, subject: idToken === undefined ? "" : undefined,',
    },
    "A vendor that identifies organizations signs no user in": {
      rows: ["UI-1"],
      find: 'if (whom === "user" && vendor.identifies !== undefined) return false;',
      replace: 'if (whom === "user" && vendor.id === "") return false;',
    },
  },
  "packages/oauth-core/src/vendor-client/userinfo/account-request.ts": {
    "An access token goes to a host of its token response only below the vendor's domain": {
      rows: ["EG-1"],
      find: "!host.endsWith(`.${below}`)",
      replace: "host === `.${below}`",
    },
  },
  "packages/mcp-auth/src/mcp/tools/vendor-api.ts": {
    "A tool's account is read from userinfo and compared with the ID token's subject": {
      rows: ["UI-1"],
      find: "idToken === undefined ? undefined : idTokenSubject(idToken.reveal(), vendor).subject",
      replace: 'idToken === undefined ? idTokenSubject("", vendor).subject : undefined',
    },
  },
  "packages/mcp-auth/src/hosted/links/token-source.ts": {
    "Hosted mode hands on the ID token beside the access token": {
      rows: ["UI-1"],
      find: "...defined({ idToken })",
      replace: "...(defined({ idToken }).idToken === undefined ? { idToken: accessToken } : {})",
      tests: ["packages/mcp-auth/src/hosted/authenticate.test.ts"],
    },
  },
};
