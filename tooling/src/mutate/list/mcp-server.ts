/**
 * Defences of an MCP server: its bearer check, its codes, sessions and consent, the clients it
 * accepts. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const SRC = "packages/mcp-auth/src";
const HOSTED = `${SRC}/hosted`;
const OWN = `${HOSTED}/server-callback`;
const ATTACKS = `${OWN}/attacks.test.ts`;
const SESSIONS = `${HOSTED}/sessions/session-attacks.test.ts`;

export const MCP_SERVER_DEFENCES: readonly Mutation[] = [
  {
    defence: "A token belongs to the server that receives it",
    rows: ["RS-2"],
    file: `${HOSTED}/sessions/issued-token.ts`,
    find: "`${prefix}\\0${audience}\\0`",
    replace: "`${prefix}\\0${typeof audience}\\0`",
    tests: [`${HOSTED}/sessions/issued-token.test.ts`],
  },
  {
    defence: "An access token expires",
    rows: ["RS-2"],
    file: `${HOSTED}/sessions/record.ts`,
    find: "isSameText(hash, presented.hash) && expiresAt > now);",
    replace: "isSameText(hash, presented.hash) && expiresAt > now - now);",
    tests: [`${HOSTED}/sessions/session-revocation.test.ts`],
  },
  {
    defence: "An access token is one that its session issued",
    rows: ["RS-2"],
    file: `${HOSTED}/sessions/record.ts`,
    find: "isSameText(hash, presented.hash) && expiresAt > now);",
    replace: "(isSameText(hash, presented.hash) || hash !== '') && expiresAt > now);",
    tests: [SESSIONS],
  },
  {
    defence: "An ended session opens nothing",
    rows: ["RS-2", "RV-1"],
    file: `${HOSTED}/sessions/sessions.ts`,
    find: `      if (session === undefined || !session.isLive) return undefined;
      const access`,
    replace: `      if (session === undefined) return undefined;
      const access`,
    tests: [SESSIONS],
  },
  {
    defence: "A spent refresh token ends the session",
    rows: ["AS-14"],
    file: `${HOSTED}/sessions/refresh.ts`,
    find: '  if (standing === "ancestor") return true;\n',
    replace: "",
    tests: [SESSIONS],
  },
  {
    defence: "A lost answer is repeated for thirty seconds only",
    rows: ["AS-14"],
    file: `${HOSTED}/sessions/refresh.ts`,
    find: "previous !== undefined && now > previous.until;",
    replace: "previous !== undefined && now > previous.until * 2;",
    tests: [SESSIONS],
  },
  {
    defence: "A refresh requests no more than was granted",
    rows: ["AS-14"],
    file: `${HOSTED}/sessions/refresh.ts`,
    find: "if (more.length > 0) throw",
    replace: "if (more.length === asked.length) throw",
    tests: [SESSIONS],
  },
  {
    defence: "Of several refreshes with one token exactly one writes",
    rows: ["AS-14"],
    file: `${HOSTED}/sessions/refresh.ts`,
    find: '{ stage: "live", expect: { refreshHash: session.refreshHash } },',
    replace: '{ stage: "live", expect: {} },',
    tests: [`${HOSTED}/sessions/sessions.test.ts`],
  },
  {
    defence: "A revocation ends the caller's own sessions only",
    rows: ["AS-21"],
    file: `${HOSTED}/sessions/sessions.ts`,
    find: "if (session === undefined || session.clientId !== clientId) return undefined;",
    replace: "if (session === undefined || clientId === '') return undefined;",
    tests: [`${HOSTED}/sessions/session-revocation.test.ts`],
  },
  {
    defence: "A vendor's code is claimed once, and its second use ends the session",
    rows: ["AS-4"],
    file: `${HOSTED}/platform-callback/vendor-code.ts`,
    find: 'if (typeof sessionId === "string") await sessions.end(sessionId);',
    replace: "void sessions;",
    tests: [`${HOSTED}/platform-callback/vendor-code.test.ts`],
  },
  {
    defence: "A code of the server is redeemed with its verifier",
    rows: ["AS-3"],
    file: "packages/oauth-core/src/brokered-code/redeem.ts",
    find: '    verifyCodeVerifier(codeVerifier, own.flow.codeChallenge ?? "");',
    replace: "    void [verifyCodeVerifier, codeVerifier];",
    tests: [`${OWN}/redeem-own-code.test.ts`],
  },
  {
    defence: "A resource is this server",
    rows: ["AS-16"],
    file: "packages/mcp-auth/src/resource/paths.ts",
    find: "if (resource === undefined || inLowerCase(resource) === inLowerCase(resourceOf(deploymentUrl))) return;",
    replace: "if (resource === undefined || inLowerCase(resource) !== resourceOf(deploymentUrl) + ' ') return;",
    tests: [`${HOSTED}/platform-callback/redeem-vendor-code.test.ts`],
  },
  {
    defence: "A token that the vendor finds too narrow is refused as such, and not as invalid",
    rows: ["RS-3"],
    file: "packages/mcp-auth/src/mcp/admission/bearer.ts",
    find: "return challengeFor(INSUFFICIENT_SCOPE);",
    replace: "return challengeFor(INVALID_TOKEN);",
    tests: ["packages/mcp-auth/src/mcp/admission/bearer.test.ts"],
  },
  {
    defence: "A client requests no more scope than the server has",
    rows: ["RS-3"],
    file: `${HOSTED}/authorization/request.ts`,
    find: "if (unknown.length > 0)",
    replace: "if (unknown.length > 0 && requested.length === 0)",
    tests: [`${HOSTED}/platform-callback/authorize.test.ts`],
  },
  {
    defence: "Consent is a form that this browser was shown",
    rows: ["AS-7"],
    file: `${OWN}/authorize.ts`,
    find: 'if (!isFormToken(parameters.get("csrf"), form, cookie)) throw refusePage(trace, "csrf");',
    replace: "void [isFormToken, form];",
    tests: [ATTACKS],
  },
  {
    defence: "Consent is for the client as it was shown",
    rows: ["AS-9"],
    file: `${OWN}/authorize.ts`,
    find: 'return JSON.stringify(["consent", fieldsOf(parameters), clientName, knownBy, redirectUris, scope]);',
    replace:
      'return JSON.stringify(["consent", fieldsOf(parameters), typeof clientName, knownBy, redirectUris.length, scope]);',
    tests: [`${HOSTED}/clients/metadata-document.test.ts`],
  },
  {
    defence: "The callback counts only in the browser that consented",
    rows: ["AS-8"],
    file: `${OWN}/policy.ts`,
    find: "bindsBrowser: () => true,",
    replace: "bindsBrowser: () => deps === undefined,",
    tests: [ATTACKS],
  },
  {
    defence: "A client's document names the client",
    rows: ["AS-13"],
    file: `${HOSTED}/clients/metadata-document.ts`,
    find: 'if (document["client_id"] !== url) throw invalidDocument("client_id is another");',
    replace: "",
    tests: [`${HOSTED}/clients/metadata-document.test.ts`],
  },
  {
    defence: "A client's document is on a host of the operator's list",
    rows: ["AS-13"],
    file: `${HOSTED}/clients/metadata-document.ts`,
    find: "if (hosts.includes(url.host)) return",
    replace: "if (hosts.length > 0) return",
    tests: [`${HOSTED}/clients/metadata-document.test.ts`],
  },
  {
    defence: "A client's document is five kilobytes at most",
    rows: ["AS-13"],
    file: `${HOSTED}/clients/metadata-document.ts`,
    find: "const DOCUMENT_BYTES = 5 * 1024;",
    replace: "const DOCUMENT_BYTES = 500 * 1024;",
    tests: [`${HOSTED}/clients/metadata-document-network.test.ts`],
  },
  {
    defence: "A registered redirect URI is on a host that the operator names",
    rows: ["AS-11"],
    file: `${HOSTED}/clients/registration.ts`,
    find: "return hosts.length === 0 || isNative || hosts.includes(host);",
    replace: "return hosts.length === 0 || isNative || host !== '';",
    tests: [`${HOSTED}/clients/registration.test.ts`],
  },
  {
    defence: "A label of the metrics has few values, none of them a caller's",
    rows: ["OB-2"],
    file: "packages/service/src/metrics/index.ts",
    find: 'return (value) => (known.has(value) ? value : "other");',
    replace: "return (value) => (known.has(value) ? value : value.slice(0, 64));",
    tests: ["packages/service/src/metrics/index.test.ts", "packages/mcp-auth/src/mcp/metrics.test.ts"],
  },
  {
    defence: "Metrics are answered to a scraper on this machine, not to a page in its browser",
    rows: ["RS-7"],
    file: "packages/mcp-auth/src/app.ts",
    find: "mount(app, [onlyForUs(route, isKnown, undefined)], {",
    replace: "mount(app, [onlyForUs(route, (host) => isKnown(host, undefined), undefined)], {",
    tests: ["packages/mcp-auth/src/mcp/metrics.test.ts"],
  },
];
