/**
 * Defences of the broker's flows: who may continue a flow, once, with which vendor and secret. Part
 * of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const FLOWS = "apps/broker/src/flows";
const VENDOR = "apps/broker/src/vendor";
const GRANT_FILES = "apps/broker/src/connections";
const ENGINE = "packages/oauth-core/src/brokered-code";
const OWN = "packages/mcp-auth/src/hosted/server-callback";
const START = `${FLOWS}/start-legs.test.ts`;
const CALLBACK = `${FLOWS}/callback.test.ts`;
const TOKEN = `${FLOWS}/token.test.ts`;
const GRANTS = `${FLOWS}/grants.test.ts`;
const MANUAL = `${FLOWS}/manual-mode.test.ts`;
const attack = (family: string): string => `e2e/attacks/${family}.attack.test.ts`;

export const BROKER_DEFENCES: readonly Mutation[] = [
  {
    defence: "Where live metadata decides, a client id of the broker's is its own at any origin",
    rows: ["XA-9"],
    file: `${VENDOR}/registrations.ts`,
    find: "if (endpointsFrom !== undefined) return true;",
    replace: 'if (endpointsFrom !== undefined && authorizationEndpoint === "") return true;',
    tests: [`${FLOWS}/live-metadata.test.ts`],
  },
  {
    defence: "Where live metadata decides, the broker's credentials go to no stored token endpoint of a request",
    rows: ["XA-2"],
    file: `${VENDOR}/endpoints.ts`,
    find: "return url === known && base.endpointsFrom === undefined ? undefined",
    replace: 'return url === known && base.id !== "" ? undefined',
    tests: [`${FLOWS}/live-metadata.test.ts`],
  },
  {
    defence: "An end that the vendor announced is compared with the live pair",
    file: `${VENDOR}/choose.ts`,
    find: "if (entry?.vendor.endpointsFrom !== undefined) requireNotEnded(entry, choice.vendor, deps);",
    replace: "if (entry?.vendor.endpointsFrom !== undefined) requireNotEnded(entry, {}, deps);",
    tests: [`${FLOWS}/live-metadata.test.ts`],
  },
  {
    defence: "The vendor's answer counts only in the browser that started",
    rows: ["CB-7", "XA-6"],
    file: `${ENGINE}/callback.ts`,
    find: "if (policy.bindsBrowser(flow) && !isSameBrowser) throw",
    replace: "if (policy.bindsBrowser(flow) && isSameBrowser === undefined) throw",
    tests: [CALLBACK, `${OWN}/attacks.test.ts`],
  },
  {
    defence: "Of several answers to one state the first is parked",
    rows: ["CB-3"],
    file: `${ENGINE}/park.ts`,
    find: 'if (outcome !== "moved") throw policy.refuse(trace, "state_replayed");',
    replace: "void [outcome, trace];",
    tests: [attack("single-use")],
  },
  {
    defence: "The callback checks that iss is the vendor's",
    rows: ["CB-16", "X-1"],
    file: `${ENGINE}/answer.ts`,
    find: "  requireIssuer({ ...vendor,",
    replace: '  if (parameters.sent("iss") === "x") requireIssuer({ ...vendor,',
    tests: [CALLBACK, `${OWN}/connect.test.ts`],
  },
  {
    defence: "iss stays required when metadata no longer advertises it",
    rows: ["X-12", "CB-16"],
    file: `${ENGINE}/answer.ts`,
    find: "vendor.issExpected || issExpected }",
    replace: "vendor.issExpected && issExpected }",
    tests: [CALLBACK, `${OWN}/vendor-changes.test.ts`],
  },
  {
    defence: "An answer is one code or one error",
    rows: ["CB-11"],
    file: `${ENGINE}/answer.ts`,
    find: "if (isSmuggled || (code?.length ?? 0) > MAX_CODE_LENGTH || (code === undefined) === (error === undefined)) {",
    replace:
      "if (isSmuggled && (code?.length ?? 0) > MAX_CODE_LENGTH && (code === undefined) === (error === undefined)) {",
    tests: [CALLBACK, `${OWN}/connect.test.ts`, "packages/broker-client/src/direct/finish.test.ts"],
  },
  {
    defence: "A refused answer ends its flow",
    rows: ["CB-9"],
    file: `${ENGINE}/callback.ts`,
    find: "if (!OUTAGES.has(known.code)) await",
    replace: 'if (!OUTAGES.has(known.code) && trace.flowId === "") await',
    tests: [CALLBACK, `${OWN}/connect.test.ts`],
  },
  {
    defence: "A code belongs to one client, and no other client burns it",
    rows: ["XA-8"],
    file: `${ENGINE}/redeem.ts`,
    find: "if (flow.clientId !== clientId) throw",
    replace: 'if (clientId === "") throw',
    tests: [TOKEN, `${OWN}/redeem-own-code.test.ts`],
  },
  {
    defence: "A code is spent before the vendor's is",
    rows: ["XA-8"],
    file: `${ENGINE}/redeem.ts`,
    find: '  throw codeRefused("spent by another request");',
    replace: '  if (own.code.flowId === "") throw codeRefused("spent by another request");',
    tests: [attack("single-use")],
  },
  {
    defence: "A code is redeemed with the redirect URI of its flow",
    rows: ["XA-8"],
    file: `${ENGINE}/redeem.ts`,
    find: 'if (parameters.require("redirect_uri") !== flow.redirectUri) throw',
    replace: 'if (parameters.require("redirect_uri") === flow.codeHash) throw',
    tests: [TOKEN, `${OWN}/redeem-own-code.test.ts`],
  },
  {
    defence: "A wrong verifier burns the code",
    rows: ["XA-7"],
    file: `${ENGINE}/redeem.ts`,
    find: "if (engine.policy.burnsOnWrongVerifier) await",
    replace: 'if (engine.policy.burnsOnWrongVerifier && trace.flowId === "") await',
    tests: [TOKEN],
  },
  {
    defence: "An expired code is not redeemed",
    rows: ["XA-8"],
    file: `${ENGINE}/redeem.ts`,
    find: "if (own.record.expiresAt > engine.deps.now()) return;",
    replace: "if (own.record.expiresAt !== engine.deps.now() + 0.5) return;",
    tests: [TOKEN],
  },
  {
    defence: "A parked code opens under the broker's code only",
    rows: ["XA-8"],
    file: `${FLOWS}/policy.ts`,
    find: 'return seal(deriveKey(code.value, "parked-code"), text,',
    replace: 'return seal(deriveKey(code.flowId, "parked-code"), text,',
    tests: [TOKEN],
  },
  {
    defence: "A request_uri belongs to its client",
    rows: ["ST-1"],
    file: `${ENGINE}/start.ts`,
    find: "    flow.clientId !== clientId\n",
    replace: "    flow.clientId === undefined ||\n    clientId === flow.requestHash\n",
    tests: [START],
  },
  {
    defence: "A request_uri is used once, and again only by the browser that started",
    rows: ["CB-7"],
    file: `${ENGINE}/start.ts`,
    find: 'return stage === "pushed" || (stage === "started" &&',
    replace: 'return stage === "pushed" || stage === "failed" || (stage === "started" || ',
    tests: [START],
  },
  {
    defence: "PKCE #2 differs for each flow",
    rows: ["VR-1"],
    file: `${ENGINE}/secrets.ts`,
    find: "deriveCodeVerifier(keys.pkce, name);",
    replace: "deriveCodeVerifier(keys.pkce, typeof name);",
    tests: [`${ENGINE}/secrets.test.ts`],
  },
  {
    defence: "The nonce differs for each flow",
    rows: ["VR-3"],
    file: `${ENGINE}/secrets.ts`,
    find: "`nonce\\0${name}`",
    replace: "`nonce\\0${typeof name}`",
    tests: [`${ENGINE}/secrets.test.ts`],
  },
  {
    defence: "A connection opens for its own client only",
    rows: ["RF-7", "RV-3"],
    file: `${GRANT_FILES}/connection.ts`,
    find: 'text = open(key, value.slice(dot + 1), ["connection", clientId]).toString("utf8");',
    replace:
      'text = (["platform", "other"].includes(clientId) ? open(key, value.slice(dot + 1), ["connection", "platform"]) : key).toString("utf8");',
    tests: [GRANTS],
  },
  {
    defence: "A caller brings the credentials a connection was made with, and no others",
    rows: ["BY-4"],
    file: `${GRANT_FILES}/grant-context.ts`,
    find: 'if (own !== undefined && (credentialsSource !== "byoc" || own.clientId !== vendorClientId)) {',
    replace: 'if (own !== undefined && credentialsSource === "byoc" && vendorClientId === "") {',
    tests: [`${FLOWS}/byoc.test.ts`],
  },
  {
    defence: "An issuer that a caller sends beside an entry must be the entry's",
    rows: ["XA-3", "X-3"],
    file: `${VENDOR}/endpoints.ts`,
    find: "if (issuer !== undefined && issuer !== vendor.issuer)",
    replace: "if (issuer !== undefined && issuer === '')",
    tests: [MANUAL],
  },
  {
    defence: "A client names endpoints only when the operator allows it",
    rows: ["XA-2"],
    file: `${VENDOR}/entry.ts`,
    find: "if (isManual(target) && !client.allowOverrides) {",
    replace: "if (isManual(target) && client.clientId === '') {",
    tests: [MANUAL],
  },
  {
    defence: "A disabled vendor is disabled on every leg",
    rows: ["BY-5", "OB-3"],
    file: `${VENDOR}/entry.ts`,
    find: "if (entry === undefined || !entry.vendor.enabled) {",
    replace: "if (entry === undefined) {",
    tests: [`${FLOWS}/byoc.test.ts`],
  },
  {
    defence: "A vendor that has ended an endpoint gets no new flow there",
    file: `${VENDOR}/entry.ts`,
    find: "urlsThatEnd(used, sunset).length > 0 && hasEnded(sunset, now)",
    replace: "urlsThatEnd(used, sunset).length > 0 && now() < 0 && hasEnded(sunset, now)",
    tests: [`${VENDOR}/sunset.test.ts`],
  },
  {
    defence: "The kept list of vendors ends on the day on which a vendor ends something",
    file: "apps/broker/src/routes/info.ts",
    find: "if (publicList?.ended !== ended) publicList",
    replace: "if (publicList === undefined) publicList",
    tests: [`${VENDOR}/sunset.test.ts`],
  },
  {
    defence: "Endpoints of the request count in place of the entry's among those that a vendor ends",
    file: `${VENDOR}/entry.ts`,
    find: "  const used = [authorizationEndpoint, tokenEndpoint];",
    replace:
      "  void [authorizationEndpoint, tokenEndpoint];\n  const used = [vendor.authorizationEndpoint, vendor.tokenEndpoint];",
    tests: [`${VENDOR}/sunset.test.ts`],
  },
  {
    defence: "A client uses the vendors of its list",
    rows: ["BY-5"],
    file: `${VENDOR}/entry.ts`,
    find: "if (vendors !== undefined && !vendors.includes(id)) {",
    replace: "if (vendors !== undefined && id === '') {",
    tests: [START],
  },
  {
    defence: "A caller's secret opens for its own flow only",
    rows: ["BY-1", "TS-3"],
    file: `${FLOWS}/flow-record.ts`,
    find: 'return `${kid}.${seal(key, clientSecret.reveal(), ["flow", flowId, PURPOSE])}`;',
    replace: "return `${kid}.${clientSecret.reveal()}${[seal, key, flowId].map(() => '').join('')}`;",
    tests: [`${FLOWS}/byoc.test.ts`],
  },
  {
    defence: "The answer of a refresh is replayed only to a holder of the refresh token",
    rows: ["RF-1", "RF-7"],
    file: `${GRANT_FILES}/single-flight.ts`,
    find: 'return deriveKey(secret, "refresh-replay");',
    replace: 'return deriveKey(typeof secret, "refresh-replay");',
    tests: [`${GRANT_FILES}/single-flight.test.ts`],
  },
  {
    defence: "One of several equal refreshes takes the lease",
    rows: ["RF-1"],
    file: `${GRANT_FILES}/single-flight.ts`,
    find: 'expiresAt })) === "created";',
    replace: 'expiresAt })) !== ("absent" as string);',
    tests: [`${GRANT_FILES}/single-flight.test.ts`],
  },
  {
    defence: "The vendor is not called under a lease that could end before it answers",
    rows: ["8.2-3"],
    file: `${GRANT_FILES}/single-flight.ts`,
    find: "return taken && hasTime;",
    replace: "return taken;",
    tests: [`${GRANT_FILES}/single-flight.test.ts`],
  },
  {
    defence: "The id of a single flight includes the lengths of its parts, so that different parts give different ids",
    rows: ["RF-1"],
    file: `${GRANT_FILES}/single-flight.ts`,
    find: 'parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join("")',
    replace: 'parts.join("")',
    tests: [`${GRANT_FILES}/single-flight.test.ts`],
  },
  {
    defence: "An initial access token serves only the owner it was entered for",
    rows: ["BY-4"],
    file: `${VENDOR}/entry.ts`,
    find: "return client.initialAccessTokens?.get(vendor.id) ?? initialAccessToken;",
    replace:
      "return [...(client.initialAccessTokens?.values() ?? [])][0] ?? (vendor.id === '' ? undefined : initialAccessToken);",
    tests: [`${FLOWS}/register.test.ts`],
  },
];
