/**
 * Defences of what vendors answer at their token endpoint, and of what is passed on: refused
 * answers, words for a dead grant, waits, numbers. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const VENDOR = "packages/oauth-core/src/vendor-client";
const TOKEN = `${VENDOR}/token`;
const BROKER = "apps/broker/src";
const ANSWERS = `${BROKER}/flows/vendor-answers.test.ts`;
const CLIENT = "packages/broker-client/src";

export const VENDOR_ANSWER_DEFENCES: readonly Mutation[] = [
  {
    defence: "An answer refused while it is read gives its tokens to no one, and they are revoked",
    rows: ["VR-7"],
    file: `${TOKEN}/response.ts`,
    find: "onRefused?.(seenTokens(body, vendor));",
    replace: "void seenTokens(body, vendor);",
    tests: [`${TOKEN}/refresh.test.ts`, `${VENDOR}/vendor-lab-faults.test.ts`, ANSWERS],
  },
  {
    defence: "The tokens beside an error in a success are revoked, and a lost refresh token is said",
    rows: ["RF-9"],
    file: `${TOKEN}/response.ts`,
    find: "if (Object.keys(seen).length > 0) onRefused?.(seen);",
    replace: "if (Object.keys(seen).length > 2) onRefused?.(seen);",
    tests: [`${TOKEN}/response.test.ts`, `${TOKEN}/refresh.test.ts`, `${VENDOR}/vendor-lab-faults.test.ts`],
  },
  {
    defence: "A refused refresh revokes no token but a new refresh token",
    rows: ["RF-9"],
    file: `${TOKEN}/refused.ts`,
    find: "else if (isNew) discard(",
    replace: "else if (isNew || true) discard(",
    tests: [`${TOKEN}/refresh.test.ts`],
  },
  {
    defence: "A refused answer that rotated says that only a new flow helps",
    rows: ["RF-9"],
    file: `${TOKEN}/refused.ts`,
    find: "vendor.rotatesRefreshTokens === true || isNew ?",
    replace: "vendor.id === seen.accessToken ?",
    tests: [`${TOKEN}/refresh.test.ts`, ANSWERS],
  },
  {
    defence: "Nothing is revoked where a revocation ends all grants of the user",
    file: `${TOKEN}/revoke.ts`,
    find: ' || vendor.revocation?.ends === "grant") return;',
    replace: ") return;",
    tests: [`${VENDOR}/vendor-lab-faults.test.ts`],
  },
  {
    defence: "A grant is not believed dead beside a word that the same request may succeed later",
    rows: ["RF-9"],
    file: `${TOKEN}/refusal.ts`,
    find: "code !== undefined && !isToWait && meaningAtAnyStatus",
    replace: "code !== undefined && meaningAtAnyStatus",
    tests: [`${TOKEN}/refusal.test.ts`],
  },
  {
    defence: "Codes of the browser and of access tokens mean a dead grant at a refresh alone",
    rows: ["VR-9"],
    file: `${VENDOR}/errors.ts`,
    find: "return isRefresh === true && DEAD_AT_REFRESH",
    replace: "return DEAD_AT_REFRESH",
    tests: [`${TOKEN}/refusal.test.ts`],
  },
  {
    defence: "HTML is never read",
    rows: ["VR-7"],
    file: `${VENDOR}/answer.ts`,
    find: "const isForm = acceptForm && !isJson && FORM.test(text);",
    replace: 'const isForm = acceptForm && !isJson && text.includes("=");',
    tests: [`${TOKEN}/response.test.ts`],
  },
  {
    defence: "A number of the vendor's keeps its digits",
    file: "packages/oauth-core/src/mechanics/exact-json.ts",
    find: "String(value) !== source ?",
    replace: "String(value) === undefined ?",
    tests: ["packages/oauth-core/src/mechanics/exact-json.test.ts", `${TOKEN}/response.test.ts`, ANSWERS],
  },
  {
    defence: "A number that no double holds identifies no user",
    file: `${VENDOR}/userinfo/identity.ts`,
    find: "Number.isSafeInteger(value) && value >= 0",
    replace: "Number.isInteger(value) && value >= 0",
    tests: [`${VENDOR}/userinfo/identity.test.ts`],
  },
  {
    defence: "A vendor that a caller names keeps a client waiting for a minute at most",
    file: `${BROKER}/vendor-choice/trust.ts`,
    find: "const MAX_SECONDS = 60;",
    replace: "const MAX_SECONDS = 86_400;",
    tests: [ANSWERS],
  },
  {
    defence: "A vendor's own wait ends within a day",
    file: `${VENDOR}/retry-after.ts`,
    find: "const MAX_SECONDS = 86_400;",
    replace: "const MAX_SECONDS = 86_400_000;",
    tests: [`${VENDOR}/retry-after.test.ts`],
  },
  {
    defence: "A header of the operator's reaches no endpoint of a caller's",
    rows: ["BY-4"],
    file: `${BROKER}/vendor-choice/trust.ts`,
    find: "parkingCodes(withoutOperatorsHeaders(vendor))",
    replace: "parkingCodes({ ...withoutOperatorsHeaders(vendor), ...vendor })",
    tests: [ANSWERS],
  },
  {
    defence: "A header of the operator's reaches no tenant that only a caller names",
    rows: ["BY-4"],
    file: `${BROKER}/vendor-choice/trust.ts`,
    find: "isVouchedFor ? vendor : withoutOperatorsHeaders(vendor)",
    replace: "vendor",
    tests: [ANSWERS],
  },
  {
    defence: "The broker's own headers of a token request are not the file's to set",
    file: "packages/oauth-core/src/registry/fields/checks.ts",
    find: "OWN_TOKEN_HEADERS.has(value.toLowerCase())",
    replace: "OWN_TOKEN_HEADERS.has(`${value}?`)",
    tests: [`${BROKER}/config/vendors/token-dialect.test.ts`],
  },
  {
    defence: "A wait of one connection's vendor keeps no other connection waiting",
    file: `${CLIENT}/waits.ts`,
    find: "const known = waiting.get(key);",
    replace: "const [known = waiting.get(key)] = waiting.values();",
    tests: [`${CLIENT}/broker/refresh.test.ts`, `${CLIENT}/direct/vendor-answers.test.ts`],
  },
  {
    defence: "A wait of one user's vendor keeps no other user of the same connection waiting",
    file: `${CLIENT}/waits.ts`,
    find: "JSON.stringify([vendor, connection, refreshToken])",
    replace: 'JSON.stringify([vendor, connection, refreshToken === "" ? refreshToken : ""])',
    tests: [`${CLIENT}/broker/refresh.test.ts`, `${CLIENT}/direct/vendor-answers.test.ts`],
  },
];
