/**
 * Defences of flows at the broker: who may continue a flow, once, with which vendor and secret.
 * Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const BROKER_DEFENCES: DefencesByFile = {
  "packages/service/src/configuration/secret-text.ts": {
    "A secret with white space or quotation marks around it does not start a service": {
      find: "(checkEdges(value) ?? check(value))",
      replace: '(checkEdges(value) === "" ? "" : check(value))',
    },
  },
  "apps/broker/src/vendor-choice/endpoints.ts": {
    "Where live metadata decides, the broker's credentials go to no stored token endpoint of a request": {
      rows: ["XA-2"],
      find: "return url === known && base.endpointsFrom === undefined ? undefined",
      replace: "return url === known ? undefined",
      tests: ["apps/broker/src/flows/live-metadata.test.ts"],
    },
    "An issuer that a caller sends beside an entry must be the entry's": {
      rows: ["XA-3", "X-3"],
      find: "if (issuer !== undefined && issuer !== vendor.issuer)",
      replace: "if (issuer !== undefined && issuer === '')",
      tests: ["apps/broker/src/flows/manual-mode.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/choose.ts": {
    "An end that the vendor announced is compared with the live pair": {
      find: "if (entry?.vendor.endpointsFrom !== undefined) requireNotEnded(entry, choice.vendor, deps);",
      replace: "if (entry?.vendor.endpointsFrom !== undefined) requireNotEnded(entry, {}, deps);",
      tests: ["apps/broker/src/flows/live-metadata.test.ts"],
    },
  },
  "packages/oauth-core/src/brokered-code/callback.ts": {
    "The vendor's answer counts only in the browser that started": {
      rows: ["CB-7", "XA-6"],
      find: "if (policy.bindsBrowser(flow) && !isSameBrowser) throw",
      replace: "if (policy.bindsBrowser(flow) && isSameBrowser === undefined) throw",
      tests: ["apps/broker/src/flows/callback.test.ts", "packages/mcp-auth/src/hosted/server-callback/attacks.test.ts"],
    },
    "A refused answer ends its flow": {
      rows: ["CB-9"],
      find: "if (!OUTAGES.has(known.code)) await",
      replace: 'if (!OUTAGES.has(known.code) && trace.flowId === "") await',
      tests: ["apps/broker/src/flows/callback.test.ts", "packages/mcp-auth/src/hosted/server-callback/connect.test.ts"],
    },
  },
  "packages/oauth-core/src/brokered-code/answer.ts": {
    "The callback checks that iss is the vendor's": {
      rows: ["CB-16", "X-1"],
      find: "  requireIssuer({ ...vendor,",
      replace: '  if (parameters.sent("iss") === "x") requireIssuer({ ...vendor,',
      tests: ["apps/broker/src/flows/callback.test.ts", "packages/mcp-auth/src/hosted/server-callback/connect.test.ts"],
    },
    "iss stays required when metadata no longer advertises it": {
      rows: ["X-12", "CB-16"],
      find: "vendor.issExpected || issExpected }",
      replace: "vendor.issExpected && issExpected }",
      tests: [
        "apps/broker/src/flows/callback.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/vendor-changes.test.ts",
      ],
    },
    "An answer is one code or one error": {
      rows: ["CB-11"],
      find: "if (isSmuggled || (code?.length ?? 0) > MAX_CODE_LENGTH || (code !== undefined && error !== undefined)) {",
      replace:
        "if (isSmuggled && (code?.length ?? 0) > MAX_CODE_LENGTH && (code !== undefined && error !== undefined)) {",
      tests: [
        "apps/broker/src/flows/callback.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/connect.test.ts",
        "packages/broker-client/src/direct/finish.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/brokered-code/redeem.ts": {
    "A code belongs to one client, and no other client burns it": {
      rows: ["XA-8"],
      find: "if (flow.clientId !== clientId) throw",
      replace: 'if (clientId === "") throw',
      tests: [
        "apps/broker/src/flows/token.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/redeem-own-code.test.ts",
      ],
    },
    "A code is spent before the vendor's is": {
      rows: ["XA-8"],
      find: '  throw codeRefused("spent by another request");',
      replace: '  if (own.code.flowId === "") throw codeRefused("spent by another request");',
      tests: ["e2e/attacks/single-use.attack.test.ts"],
    },
    "A code is redeemed with the redirect URI of its flow": {
      rows: ["XA-8"],
      find: 'parameters.require("redirect_uri") === flow.redirectUri) return;',
      replace: 'parameters.require("redirect_uri") !== flow.codeHash) return;',
      tests: [
        "apps/broker/src/flows/token.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/redeem-own-code.test.ts",
      ],
    },
    "A wrong verifier burns the code": {
      rows: ["XA-7"],
      find: "if (engine.policy.burnsOnWrongVerifier) await",
      replace: 'if (engine.policy.burnsOnWrongVerifier && trace.flowId === "") await',
      tests: ["apps/broker/src/flows/token.test.ts"],
    },
    "An expired code is not redeemed": {
      rows: ["XA-8"],
      find: "if (own.record.expiresAt > engine.deps.now()) return;",
      replace: "if (own.record.expiresAt !== engine.deps.now() + 0.5) return;",
      tests: ["apps/broker/src/flows/token.test.ts"],
    },
  },
  "apps/broker/src/flows/policy.ts": {
    "A parked code opens under the broker's code only": {
      rows: ["XA-8"],
      find: 'return seal(deriveKey(code.value, "parked-code"), text,',
      replace: 'return seal(deriveKey(code.flowId, "parked-code"), text,',
      tests: ["apps/broker/src/flows/token.test.ts"],
    },
  },
  "packages/oauth-core/src/brokered-code/start.ts": {
    "A request_uri belongs to its client": {
      rows: ["ST-1"],
      find: "    flow.clientId !== clientId\n",
      replace: "    flow.clientId === undefined ||\n    clientId === flow.requestHash\n",
      tests: ["apps/broker/src/flows/start-legs.test.ts"],
    },
    "A request_uri is used once, and again only by the browser that started": {
      rows: ["CB-7"],
      find: 'return stage === "pushed" || (stage === "started" &&',
      replace: 'return stage === "pushed" || stage === "failed" || (stage === "started" || ',
      tests: ["apps/broker/src/flows/start-legs.test.ts"],
    },
  },
  "packages/oauth-core/src/brokered-code/secrets.ts": {
    "PKCE #2 differs for each flow": {
      rows: ["VR-1"],
      find: "deriveCodeVerifier(keys.pkce, name);",
      replace: "deriveCodeVerifier(keys.pkce, typeof name);",
    },
    "The nonce differs for each flow": {
      rows: ["VR-3"],
      find: "`nonce\\0${name}`",
      replace: "`nonce\\0${typeof name}`",
    },
  },
  "apps/broker/src/grants/connection.ts": {
    "A connection opens for its own client only": {
      rows: ["RF-7", "RV-3"],
      find: 'text = open(key, value.slice(kid.length + 1), ["connection", clientId]).toString("utf8");',
      replace:
        'text = (["platform", "other"].includes(clientId) ? open(key, value.slice(kid.length + 1), ["connection", "platform"]) : key).toString("utf8");',
      tests: ["apps/broker/src/flows/grants.test.ts"],
    },
  },
  "apps/broker/src/grants/grant-context.ts": {
    "A caller brings the credentials a connection was made with, and no others": {
      rows: ["BY-4"],
      find: 'if (own !== undefined && (credentialsSource !== "byoc" || own.clientId !== vendorClientId)) {',
      replace: 'if (own !== undefined && credentialsSource === "byoc" && vendorClientId === "") {',
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
  },
  "apps/broker/src/vendor-choice/entry.ts": {
    "A client names endpoints only when the operator allows it": {
      rows: ["XA-2"],
      find: "if (isManual(target) && !client.allowOverrides) {",
      replace: "if (isManual(target) && client.clientId === '') {",
      tests: ["apps/broker/src/flows/manual-mode.test.ts"],
    },
    "A disabled vendor is disabled on every leg": {
      rows: ["BY-5", "OB-3"],
      find: "if (entry === undefined || !entry.vendor.enabled) {",
      replace: "if (entry === undefined) {",
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
    "A vendor that has ended an endpoint gets no new flow there": {
      find: "urlsThatEnd(used, sunset).length > 0 && hasEnded(sunset, now)",
      replace: "urlsThatEnd(used, sunset).length > 0 && now() < 0 && hasEnded(sunset, now)",
      tests: ["apps/broker/src/vendor-choice/sunset.test.ts"],
    },
    "Endpoints of the request count in place of the entry's among those that a vendor ends": {
      find: "  const used = [authorizationEndpoint, tokenEndpoint];",
      replace:
        "  void [authorizationEndpoint, tokenEndpoint];\n  const used = [vendor.authorizationEndpoint, vendor.tokenEndpoint];",
      tests: ["apps/broker/src/vendor-choice/sunset.test.ts"],
    },
    "A client uses the vendors of its list": {
      rows: ["BY-5"],
      find: "if (vendors !== undefined && !vendors.includes(id)) {",
      replace: "if (vendors !== undefined && id === '') {",
      tests: ["apps/broker/src/flows/start-legs.test.ts"],
    },
    "An initial access token serves only the owner it was entered for": {
      rows: ["BY-4"],
      find: "return client.initialAccessTokens?.get(vendor.id) ?? initialAccessToken;",
      replace:
        "return [...(client.initialAccessTokens?.values() ?? [])][0] ?? (vendor.id === '' ? undefined : initialAccessToken);",
      tests: ["apps/broker/src/flows/register.test.ts"],
    },
  },
  "apps/broker/src/routes/vendor-views.ts": {
    "The kept list of vendors ends on the day on which a vendor ends something": {
      find: "if (made !== version())",
      replace: "if (made > version())",
      tests: ["apps/broker/src/vendor-choice/sunset.test.ts", "apps/broker/src/routes/vendor-views.test.ts"],
    },
  },
  "apps/broker/src/flows/flow-record.ts": {
    "A caller's secret opens for its own flow only": {
      rows: ["BY-1", "TS-3"],
      find: 'return `${kid}.${seal(key, clientSecret.reveal(), ["flow", flowId, PURPOSE])}`;',
      replace: "return `${kid}.${clientSecret.reveal()}${[seal, key, flowId].map(() => '').join('')}`;",
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
  },
  "apps/broker/src/grants/single-flight.ts": {
    "The answer of a refresh is replayed only to a holder of the refresh token": {
      rows: ["RF-1", "RF-7"],
      find: 'return deriveKey(refreshToken, "refresh-replay");',
      replace: 'return deriveKey(typeof refreshToken, "refresh-replay");',
    },
    "The answer of a refresh is replayed only to a holder of the client's own secret": {
      rows: ["RF-1"],
      find: "return deriveKey(`${refreshToken.length}:${refreshToken}${clientSecret}`",
      replace: "return deriveKey(`${refreshToken.length}:${refreshToken}${typeof clientSecret}`",
    },
    "Callers with different secrets of their own do not share a call in one process": {
      rows: ["RF-1"],
      find: "clientSecret === undefined ? [id] : [id, clientSecret]",
      replace: "clientSecret === undefined ? [id] : [id]",
    },
    "A refresh token that was answered to another caller is not sent again in the meantime": {
      rows: ["RF-1"],
      find: "if (settled?.isSpent === true) throw justRefreshed(",
      replace: "if (settled?.isSpent === true && hasWaited && key.id === '') throw justRefreshed(",
      tests: ["apps/broker/src/grants/single-flight.test.ts", "apps/broker/src/flows/byoc.test.ts"],
    },
    "The id of a single flight includes the lengths of its parts, so that different parts give different ids": {
      rows: ["RF-1"],
      find: 'parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join("")',
      replace: 'parts.join("")',
    },
  },
  "apps/broker/src/flows/refresh.ts": {
    "The client's own secret is part of what makes two refreshes equal": {
      rows: ["RF-1"],
      find: 'credentials.source === "byoc" ? credentials.clientSecret?.reveal() : undefined',
      replace: 'credentials.source === "environment" ? credentials.clientSecret?.reveal() : undefined',
      tests: ["apps/broker/src/flows/byoc.test.ts"],
    },
  },
  "apps/broker/src/grants/replay-share.ts": {
    "A long answer of a vendor is not kept for a replay": {
      find: "if (bytes > MOST_ANSWER_BYTES || ",
      replace: "if (",
      tests: [
        "apps/broker/src/grants/replay-share.test.ts",
        "apps/broker/src/grants/single-flight.test.ts",
        "e2e/attacks/long-answers.attack.test.ts",
      ],
    },
    "The answers kept of one client have a bound": {
      find: " || after > MOST_CLIENT_BYTES",
      replace: "",
    },
  },
  "apps/broker/src/grants/lease.ts": {
    "One of several equal refreshes takes the lease": {
      rows: ["RF-1"],
      find: 'expiresAt })) === "created";',
      replace: 'expiresAt })) !== ("absent" as string);',
      tests: ["apps/broker/src/grants/single-flight.test.ts"],
    },
    "The vendor is not called under a lease that could end before it answers": {
      rows: ["8.2-3"],
      find: "return taken && hasTime;",
      replace: "return taken;",
      tests: ["apps/broker/src/grants/single-flight.test.ts"],
    },
  },
};
