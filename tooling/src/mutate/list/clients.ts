/**
 * Defences towards clients: authentication, cookies and forms, pushed requests, the HTTP surface,
 * the log. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const CLIENT_DEFENCES: DefencesByFile = {
  "packages/oauth-core/src/authorization-server/client-authentication.ts": {
    "A client secret is compared": {
      rows: ["ST-1"],
      find: "if (client === undefined || !matches) throw",
      replace: "if (client === undefined || (!matches && secret === '')) throw",
    },
    "A client authenticates in one way at a time": {
      rows: ["AS-20"],
      find: "if (used > 1) throw",
      replace: "if (used > 3) throw",
    },
    "The named client is the authenticated client": {
      rows: ["ST-1"],
      find: 'if ((parameters.get("client_id") ?? client.clientId) !== client.clientId) {',
      replace: 'if ((parameters.get("client_id") ?? client.clientId) === "") {',
    },
  },
  "packages/oauth-core/src/authorization-server/client-assertion.ts": {
    "An assertion is addressed to our issuer": {
      rows: ["VR-6"],
      find: "    audience: issuer,\n",
      replace: "    audience: [issuer, decodeJwt(assertion).aud ?? []].flat(),\n",
      tests: ["packages/oauth-core/src/authorization-server/client-authentication.test.ts"],
    },
    "An assertion lives a minute at most": {
      rows: ["VR-6"],
      find: "if (exp - iat > LIFETIME_SECONDS) throw",
      replace: "if (exp - iat > LIFETIME_SECONDS * 1e6) throw",
      tests: ["packages/oauth-core/src/authorization-server/client-authentication.test.ts"],
    },
  },
  "packages/oauth-core/src/authorization-server/browser-binding.ts": {
    "A form token belongs to this form and this browser": {
      rows: ["XA-9", "AS-7"],
      find: "return isSameText(sent, formToken(what, cookie));",
      replace: "return isSameText(sent, formToken(what, cookie)) || sent !== undefined;",
      tests: ["apps/broker/src/flows/owner-page.test.ts", "apps/platform/src/routes/routes.test.ts"],
    },
    "A form token belongs to one form": {
      rows: ["XA-9", "AS-7"],
      find: 'return hmacSha256(Buffer.from(value), what).toString("base64url");',
      replace: 'return hmacSha256(Buffer.from(value), typeof what).toString("base64url");',
      tests: ["packages/mcp-auth/src/hosted/server-callback/attacks.test.ts"],
    },
    "A binding cookie is one that we could have set": {
      rows: ["CB-7"],
      find: "return COOKIE_VALUE.test(value) ? bindingCookie(value) : undefined;",
      replace: "return COOKIE_VALUE.test(value) || value !== '' ? bindingCookie(value) : undefined;",
      tests: ["apps/broker/src/flows/start-legs.test.ts"],
    },
    "A binding cookie is kept from sibling domains and scripts": {
      rows: ["CB-7"],
      find: "`__Host-flow-${flowId}` : `flow-${flowId}`",
      replace: "`flow-${flowId}` : `flow-${flowId}`",
      tests: ["apps/broker/src/flows/start-legs.test.ts"],
    },
  },
  "packages/oauth-core/src/authorization-server/pushed-request.ts": {
    "A pushed request contains no request object": {
      rows: ["AS-19"],
      find: 'if (parameters.has("request_uri") || parameters.has("request")) {',
      replace: 'if (parameters.has("request_uri") && parameters.has("request")) {',
    },
    "A pushed request belongs to the client that authenticated": {
      rows: ["ST-1"],
      find: 'if (parameters.require("client_id") !== client.clientId) {',
      replace: 'if (parameters.require("client_id") === "") {',
    },
  },
  "packages/oauth-core/src/http/answers.ts": {
    "Pages are not framed and run no script": {
      rows: ["CB-13", "HT-10"],
      find: "const LOCKED_CSP = \"default-src 'none'; frame-ancestors 'none'; base-uri 'none'\";",
      replace: "const LOCKED_CSP = \"base-uri 'none'\";",
    },
    "No answer is cached": {
      rows: ["HT-10", "VR-8"],
      find: '  "cache-control": "no-store",\n',
      replace: "",
    },
  },
  "packages/service/src/http/body.ts": {
    "A declared length over the limit is refused before the body is read": {
      rows: ["HT-1"],
      find: 'if (Number(c.req.header("content-length") ?? 0) > bodyBytes) throw tooLarge(bodyBytes);',
      replace: "",
      tests: ["e2e/scenarios/broker/http.test.ts"],
    },
    "A body is counted while it is received": {
      rows: ["HT-1"],
      find: "    const body = createByteCollector(bodyBytes);",
      replace: "    const body = createByteCollector(bodyBytes * 1e6);",
      tests: ["e2e/scenarios/broker/http.test.ts"],
    },
    "A body has the content type that is parsed": {
      rows: ["HT-2"],
      find: "if (type.trim() === expected && isUtf8) return;",
      replace: "if (type.trim() !== '-' && isUtf8) return;",
    },
  },
  "packages/service/src/http/http-layer.ts": {
    "A library's answer is not kept by a cache": {
      rows: ["HT-10"],
      find: 'if (!headers.has("cache-control")) headers.set("cache-control", "no-store");',
      replace: "",
      tests: ["packages/service/src/serve.test.ts"],
    },
    "A HEAD spends nothing that a GET would": {
      rows: ["CB-12"],
      find: 'isPage && c.req.raw.method === "HEAD" ?',
      replace: 'isPage && c.req.raw.method === "" ?',
      tests: ["apps/broker/src/flows/start-legs.test.ts", "apps/broker/src/flows/callback.test.ts"],
    },
  },
  "packages/service/src/log.ts": {
    "A log line has only fields of the list": {
      rows: ["OB-2", "TS-17"],
      find: '    if (member === undefined || typeof value !== member.type) continue;\n    if (typeof value === "string") line += member.start + jsonText(value);',
      replace:
        '    if (typeof value === "string") line += (member?.start ?? `,"${name}":`) + jsonText(value);\n    else if (member === undefined || typeof value !== member.type) continue;',
    },
    "A log line contains no query of a URL": {
      rows: ["OB-2"],
      find: '    .replace(QUERY_OR_FRAGMENT, "?[cut]")\n',
      replace: '    .replace(QUERY_OR_FRAGMENT, "$&")\n',
    },
  },
  "packages/service/src/serve.ts": {
    "A slow client loses its connection": {
      rows: ["HT-5"],
      find: "firstRequestMs: 10_000,\n  /** Until the whole request has arrived. */\n  requestMs: 15_000,",
      replace: "firstRequestMs: 60_000,\n  requestMs: 300_000,",
      tests: ["e2e/scenarios/broker/http-slow.test.ts"],
    },
    "The limits on slow clients reach the listener": {
      rows: ["HT-5"],
      find: "    headersTimeout: headersMs,\n    requestTimeout: requestMs,",
      replace: "    headersTimeout: headersMs * 100,\n    requestTimeout: requestMs * 100,",
      tests: ["e2e/scenarios/broker/http-slow.test.ts"],
    },
    "A GET has no body": {
      rows: ["HT-1"],
      find: "if (isGet(request) && hasBody(request)) refuseBody(request, response);",
      replace: "if (isGet(request) && hasBody(request) && request.method === '') refuseBody(request, response);",
    },
  },
};
