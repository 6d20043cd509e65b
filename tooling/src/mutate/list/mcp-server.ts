/**
 * Defences of an MCP server: its bearer check, its codes, sessions and consent, the clients it
 * accepts. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const MCP_SERVER_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/hosted/sessions/issued-token.ts": {
    "A token belongs to the server that receives it": {
      rows: ["RS-2"],
      find: "`${prefix}\\0${audience}\\0`",
      replace: "`${prefix}\\0${typeof audience}\\0`",
    },
  },
  "packages/mcp-auth/src/hosted/sessions/record.ts": {
    "An access token expires": {
      rows: ["RS-2"],
      find: "isSameText(hash, presented.hash) && expiresAt > now);",
      replace: "isSameText(hash, presented.hash) && expiresAt > now - now);",
      tests: ["packages/mcp-auth/src/hosted/sessions/session-revocation.test.ts"],
    },
    "An access token is one that its session issued": {
      rows: ["RS-2"],
      find: "isSameText(hash, presented.hash) && expiresAt > now);",
      replace: "(isSameText(hash, presented.hash) || hash !== '') && expiresAt > now);",
      tests: ["packages/mcp-auth/src/hosted/sessions/session-attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/sessions/sessions.ts": {
    "An ended session opens nothing": {
      rows: ["RS-2", "RV-1"],
      find: "      if (session === undefined || !session.isLive) return undefined;\n      const access",
      replace: "      if (session === undefined) return undefined;\n      const access",
      tests: ["packages/mcp-auth/src/hosted/sessions/session-attacks.test.ts"],
    },
    "A revocation ends the caller's own sessions only": {
      rows: ["AS-21"],
      find: "if (session === undefined || session.clientId !== clientId) return undefined;",
      replace: "if (session === undefined || clientId === '') return undefined;",
      tests: ["packages/mcp-auth/src/hosted/sessions/session-revocation.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/sessions/refresh.ts": {
    "A spent refresh token ends the session": {
      rows: ["AS-14"],
      find: '  if (standing === "ancestor") return true;\n',
      replace: "",
      tests: ["packages/mcp-auth/src/hosted/sessions/session-attacks.test.ts"],
    },
    "A lost answer is repeated for thirty seconds only": {
      rows: ["AS-14"],
      find: "previous !== undefined && now > previous.until;",
      replace: "previous !== undefined && now > previous.until * 2;",
      tests: ["packages/mcp-auth/src/hosted/sessions/session-attacks.test.ts"],
    },
    "A refresh requests no more than was granted": {
      rows: ["AS-14"],
      find: "if (more.length > 0) throw",
      replace: "if (more.length === asked.length) throw",
      tests: ["packages/mcp-auth/src/hosted/sessions/session-attacks.test.ts"],
    },
    "Of several refreshes with one token exactly one writes": {
      rows: ["AS-14"],
      find: '{ stage: "live", expect: { refreshHash: session.refreshHash } },',
      replace: '{ stage: "live", expect: {} },',
      tests: ["packages/mcp-auth/src/hosted/sessions/sessions.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/platform-callback/vendor-code.ts": {
    "A vendor's code is claimed once, and its second use ends the session": {
      rows: ["AS-4"],
      find: 'if (typeof sessionId === "string") await sessions.end(sessionId);',
      replace: "void sessions;",
    },
  },
  "packages/oauth-core/src/brokered-code/redeem.ts": {
    "A code of the server is redeemed with its verifier": {
      rows: ["AS-3"],
      find: '    verifyCodeVerifier(codeVerifier, own.flow.codeChallenge ?? "");',
      replace: "    void [verifyCodeVerifier, codeVerifier];",
      tests: ["packages/mcp-auth/src/hosted/server-callback/redeem-own-code.test.ts"],
    },
  },
  "packages/mcp-auth/src/resource/paths.ts": {
    "A resource is this server": {
      rows: ["AS-16"],
      find: "if (resource === undefined || inLowerCase(resource) === inLowerCase(resourceOf(deploymentUrl))) return;",
      replace: "if (resource === undefined || inLowerCase(resource) !== resourceOf(deploymentUrl) + ' ') return;",
      tests: ["packages/mcp-auth/src/hosted/platform-callback/redeem-vendor-code.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/admission/bearer.ts": {
    "A token that the vendor finds too narrow is refused as such, and not as invalid": {
      rows: ["RS-3"],
      find: "return challengeFor(INSUFFICIENT_SCOPE);",
      replace: "return challengeFor(INVALID_TOKEN);",
    },
  },
  "packages/mcp-auth/src/hosted/authorization/request.ts": {
    "A client requests no more scope than the server has": {
      rows: ["RS-3"],
      find: "if (unknown.length > 0)",
      replace: "if (unknown.length > 0 && requested.length === 0)",
      tests: ["packages/mcp-auth/src/hosted/platform-callback/authorize.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/server-callback/authorize.ts": {
    "Consent is a form that this browser was shown": {
      rows: ["AS-7"],
      find: 'if (!isFormToken(parameters.get("csrf"), form, cookie)) throw refusePage(trace, "csrf");',
      replace: "void [isFormToken, form];",
      tests: ["packages/mcp-auth/src/hosted/server-callback/attacks.test.ts"],
    },
    "Consent is for the client as it was shown": {
      rows: ["AS-9"],
      find: 'return JSON.stringify(["consent", fieldsOf(parameters), clientName, knownBy, redirectUris, scope]);',
      replace:
        'return JSON.stringify(["consent", fieldsOf(parameters), typeof clientName, knownBy, redirectUris.length, scope]);',
      tests: ["packages/mcp-auth/src/hosted/clients/metadata-document.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/server-callback/policy.ts": {
    "The callback counts only in the browser that consented": {
      rows: ["AS-8"],
      find: "bindsBrowser: () => true,",
      replace: "bindsBrowser: () => deps === undefined,",
      tests: ["packages/mcp-auth/src/hosted/server-callback/attacks.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/clients/metadata-document.ts": {
    "A client's document is on a host of the operator's list": {
      rows: ["AS-13"],
      find: "if (hosts.includes(url.host)) return",
      replace: "if (hosts.length > 0) return",
    },
    "A client's document is five kilobytes at most": {
      rows: ["AS-13"],
      find: "const DOCUMENT_BYTES = 5 * 1024;",
      replace: "const DOCUMENT_BYTES = 500 * 1024;",
      tests: ["packages/mcp-auth/src/hosted/clients/metadata-document-network.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/clients/registration.ts": {
    "A registered redirect URI is on a host that the operator names": {
      rows: ["AS-11"],
      find: "return hosts.length === 0 || isNative || hosts.includes(host);",
      replace: "return hosts.length === 0 || isNative || host !== '';",
    },
  },
  "packages/service/src/metrics/index.ts": {
    "A label of the metrics has few values, none of them a caller's": {
      rows: ["OB-2"],
      find: 'return (value) => (known.has(value) ? value : "other");',
      replace: "return (value) => (known.has(value) ? value : value.slice(0, 64));",
      tests: ["packages/service/src/metrics/index.test.ts", "packages/mcp-auth/src/mcp/metrics.test.ts"],
    },
  },
  "packages/mcp-auth/src/app.ts": {
    "Metrics are answered to a scraper on this machine, not to a page in its browser": {
      rows: ["RS-7"],
      find: "mount(app, [onlyForUs(route, isKnown, undefined)], {",
      replace: "mount(app, [onlyForUs(route, (host) => isKnown(host, undefined), undefined)], {",
      tests: ["packages/mcp-auth/src/mcp/metrics.test.ts"],
    },
  },
};
