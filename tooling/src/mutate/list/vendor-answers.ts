/**
 * Defences of what vendors answer at their token endpoint, and of what is passed on: refused
 * answers, words for a dead grant, waits, numbers. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const VENDOR_ANSWER_DEFENCES: DefencesByFile = {
  "packages/oauth-core/src/vendor-client/token/response.ts": {
    "An answer refused while it is read gives its tokens to no one, and they are revoked": {
      rows: ["VR-7"],
      find: "onRefused?.(seenTokens(body, vendor));",
      replace: "void seenTokens(body, vendor);",
      tests: [
        "packages/oauth-core/src/vendor-client/token/refresh.test.ts",
        "packages/oauth-core/src/vendor-client/vendor-lab-faults.test.ts",
        "apps/broker/src/flows/vendor-answers.test.ts",
      ],
    },
    "The tokens beside an error in a success are revoked, and a lost refresh token is said": {
      rows: ["RF-9"],
      find: "if (Object.keys(seen).length > 0) onRefused?.(seen);",
      replace: "if (Object.keys(seen).length > 2) onRefused?.(seen);",
      tests: [
        "packages/oauth-core/src/vendor-client/token/response.test.ts",
        "packages/oauth-core/src/vendor-client/token/refresh.test.ts",
        "packages/oauth-core/src/vendor-client/vendor-lab-faults.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/vendor-client/token/refused.ts": {
    "A refused refresh revokes no token but a new refresh token": {
      rows: ["RF-9"],
      find: "else if (isNew) discard(",
      replace: "else if (isNew || true) discard(",
      tests: ["packages/oauth-core/src/vendor-client/token/refresh.test.ts"],
    },
    "A refused answer that rotated says that only a new flow helps": {
      rows: ["RF-9"],
      find: "vendor.rotatesRefreshTokens === true || isNew ?",
      replace: "vendor.id === seen.accessToken ?",
      tests: [
        "packages/oauth-core/src/vendor-client/token/refresh.test.ts",
        "apps/broker/src/flows/vendor-answers.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/vendor-client/token/revoke.ts": {
    "Nothing is revoked where a revocation ends all grants of the user": {
      find: ' || vendor.revocation?.ends === "grant") return;',
      replace: ") return;",
      tests: ["packages/oauth-core/src/vendor-client/vendor-lab-faults.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/token/refusal.ts": {
    "A grant is not believed dead beside a word that the same request may succeed later": {
      rows: ["RF-9"],
      find: "code !== undefined && !isToWait && meaningAtAnyStatus",
      replace: "code !== undefined && meaningAtAnyStatus",
    },
  },
  "packages/oauth-core/src/vendor-client/errors.ts": {
    "Codes of the browser and of access tokens mean a dead grant at a refresh alone": {
      rows: ["VR-9"],
      find: "return isRefresh === true && DEAD_AT_REFRESH",
      replace: "return DEAD_AT_REFRESH",
      tests: ["packages/oauth-core/src/vendor-client/token/refusal.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/answer.ts": {
    "HTML is never read": {
      rows: ["VR-7"],
      find: "const isForm = acceptForm && !isJson && FORM.test(text);",
      replace: 'const isForm = acceptForm && !isJson && text.includes("=");',
      tests: ["packages/oauth-core/src/vendor-client/token/response.test.ts"],
    },
  },
  "packages/oauth-core/src/mechanics/exact-json.ts": {
    "A number of the vendor's keeps its digits": {
      find: "String(value) !== source ?",
      replace: "String(value) === undefined ?",
      tests: [
        "packages/oauth-core/src/mechanics/exact-json.test.ts",
        "packages/oauth-core/src/vendor-client/token/response.test.ts",
        "apps/broker/src/flows/vendor-answers.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/vendor-client/userinfo/identity.ts": {
    "A number that no double holds identifies no user": {
      find: "Number.isSafeInteger(value) && value >= 0",
      replace: "Number.isInteger(value) && value >= 0",
    },
  },
  "apps/broker/src/vendor-choice/trust.ts": {
    "A vendor that a caller names keeps a client waiting for a minute at most": {
      find: "const MAX_SECONDS = 60;",
      replace: "const MAX_SECONDS = 86_400;",
      tests: ["apps/broker/src/flows/vendor-answers.test.ts"],
    },
    "A header of the operator's reaches no endpoint of a caller's": {
      rows: ["BY-4"],
      find: "parkingCodes(withoutOperatorsHeaders(vendor))",
      replace: "parkingCodes({ ...withoutOperatorsHeaders(vendor), ...vendor })",
      tests: ["apps/broker/src/flows/vendor-answers.test.ts"],
    },
    "A header of the operator's reaches no tenant that only a caller names": {
      rows: ["BY-4"],
      find: "isVouchedFor ? vendor : withoutOperatorsHeaders(vendor)",
      replace: "vendor",
      tests: ["apps/broker/src/flows/vendor-answers.test.ts"],
    },
  },
  "packages/oauth-core/src/vendor-client/retry-after.ts": {
    "A vendor's own wait ends within a day": {
      find: "const MAX_SECONDS = 86_400;",
      replace: "const MAX_SECONDS = 86_400_000;",
    },
  },
  "packages/oauth-core/src/registry/fields/checks.ts": {
    "The broker's own headers of a token request are not the file's to set": {
      find: "OWN_TOKEN_HEADERS.has(value.toLowerCase())",
      replace: "OWN_TOKEN_HEADERS.has(`${value}?`)",
      tests: ["apps/broker/src/config/vendors/token-dialect.test.ts"],
    },
  },
  "packages/broker-client/src/waits.ts": {
    "A wait of one connection's vendor keeps no other connection waiting": {
      find: "const known = waiting.get(key);",
      replace: "const [known = waiting.get(key)] = waiting.values();",
      tests: [
        "packages/broker-client/src/broker/refresh.test.ts",
        "packages/broker-client/src/direct/vendor-answers.test.ts",
      ],
    },
    "A wait of one user's vendor keeps no other user of the same connection waiting": {
      find: "JSON.stringify([vendor, connection, refreshToken])",
      replace: 'JSON.stringify([vendor, connection, refreshToken === "" ? refreshToken : ""])',
      tests: [
        "packages/broker-client/src/broker/refresh.test.ts",
        "packages/broker-client/src/direct/vendor-answers.test.ts",
      ],
    },
  },
};
