/**
 * Defences of an MCP server towards clients that describe themselves: registrations, documents of
 * any host, and what the user is shown of them. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const MCP_CLIENT_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/hosted/clients/client-metadata.ts": {
    "A redirect URI that is a script refuses a registration, also beside a good one": {
      rows: ["AS-11"],
      find: "return url !== null && !PUBLIC_SCHEMES.has(url.protocol);",
      replace: 'return url !== null && !(PUBLIC_SCHEMES.has(url.protocol) && url.protocol.startsWith("http"));',
      tests: ["packages/mcp-auth/src/hosted/clients/registration.test.ts"],
    },
    "A registration is answered without a secret, as a public client": {
      rows: ["AS-11"],
      find: 'token_endpoint_auth_method: "none",\n  grant_types',
      replace: 'token_endpoint_auth_method: "client_secret_post",\n  grant_types',
      tests: [
        "packages/mcp-auth/src/hosted/clients/registration.test.ts",
        "packages/mcp-auth/src/hosted/clients/shipping-clients.test.ts",
      ],
    },
    "A document whose client cannot be public is refused": {
      rows: ["AS-13"],
      find: '(Array.isArray(supported) && supported.includes("none"))',
      replace: "supported !== null",
      tests: ["packages/mcp-auth/src/hosted/clients/metadata-document.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/clients/client.ts": {
    "A client assertion is refused, not ignored": {
      rows: ["AS-20"],
      find: '["client_secret", "client_assertion", "client_assertion_type"]',
      replace: '["client_secret"]',
      tests: ["packages/mcp-auth/src/hosted/clients/shipping-clients.test.ts"],
    },
    "A caller without credentials is not asked for a password": {
      rows: ["AS-20"],
      find: "authorization === undefined || /^bearer\\b/i.test(authorization)",
      replace: '/^bearer\\b/i.test(authorization ?? "")',
      tests: ["packages/mcp-auth/src/hosted/platform-callback/redeem-vendor-code.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/clients/metadata-document.ts": {
    "A document of a host that no one listed is never fetched from loopback": {
      rows: ["AS-13"],
      find: "egress: { ...egress, allowLoopback: false }",
      replace: "egress: { ...egress }",
      tests: ["packages/mcp-auth/src/hosted/clients/any-host.test.ts"],
    },
    "A document of a host that no one listed is on port 443": {
      rows: ["AS-13"],
      find: 'url.protocol === "https:" && url.port === "" &&',
      replace: 'url.protocol === "https:" &&',
      tests: ["packages/mcp-auth/src/hosted/clients/any-host.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/clients/document-limits.ts": {
    "Documents of one host that no one listed are fetched ten times a minute": {
      rows: ["AS-13"],
      find: "ofHost.take(new URL(clientId).host);",
      replace: "void ofHost;",
      tests: ["packages/mcp-auth/src/hosted/clients/any-host.test.ts"],
    },
    "Documents of hosts that no one listed are fetched thirty times a minute for one address": {
      rows: ["AS-13"],
      find: "      ofAddress.add(address);\n",
      replace: "",
      tests: ["packages/mcp-auth/src/hosted/clients/any-host.test.ts"],
    },
    "A document of a host that no one listed is not fetched again for a minute after it failed": {
      rows: ["AS-13"],
      find: "failures.set(clientId, { cause }, now() + FAILURE_SECONDS);",
      replace: "failures.set(clientId, { cause }, now() + FAILURE_SECONDS - FAILURE_SECONDS);",
      tests: ["packages/mcp-auth/src/hosted/clients/any-host.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/routes.ts": {
    "What a browser's request makes the server fetch counts for its address": {
      rows: ["AS-13"],
      find: "onBehalfOf({ clientId: address }, () => route.handle(c, trace))",
      replace: "onBehalfOf({}, () => route.handle(c, trace))",
      tests: ["packages/mcp-auth/src/hosted/clients/any-host.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/server-callback/consent-page.ts": {
    "The page names the host of a client's document before the name that it chose": {
      rows: ["AS-10"],
      find: 'return knownBy === "metadata_document" ? new URL(clientId).host : name;',
      replace: 'return knownBy === "metadata_document" && clientId === "" ? new URL(clientId).host : name;',
      tests: ["packages/mcp-auth/src/hosted/clients/any-host.test.ts"],
    },
  },
  "packages/mcp-auth/src/resource/scopes.ts": {
    "Challenges and the resource's metadata do not name offline_access": {
      rows: ["AS-17"],
      find: "scope !== OFFLINE_ACCESS && ",
      replace: "scope !== `${OFFLINE_ACCESS}2` && ",
      tests: ["packages/mcp-auth/src/hosted/offline-access.test.ts", "packages/mcp-auth/src/mcp/endpoint.test.ts"],
    },
  },
  "packages/oauth-core/src/brokered-code/redeem.ts": {
    "A redirect URI that is sent to /token is compared although it may be left out": {
      rows: ["AS-6"],
      find: 'policy.redirectUriAtToken === "optional" && !parameters.has("redirect_uri")',
      replace: 'policy.redirectUriAtToken === "optional"',
      tests: ["packages/mcp-auth/src/hosted/server-callback/redeem-own-code.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/calls/tool-answer.ts": {
    "A vendor's document with _meta does not speak for the server": {
      find: '(["content", "structuredContent", "isError"])',
      replace: '(["content", "structuredContent", "isError", "_meta"])',
      tests: ["packages/mcp-auth/src/mcp/calls/tool-answers.test.ts"],
    },
    "Half a character of a tool's answer is replaced before it leaves": {
      find: 'half === undefined ? escape : "\\\\ufffd",',
      replace: "half === undefined ? escape : escape,",
      tests: ["packages/mcp-auth/src/mcp/calls/tool-answers.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/endpoint.ts": {
    "A cancel ends a call of the same token and session alone": {
      rows: ["RS-5"],
      find: 'bearerToken(c.req.header("authorization")), c.req.header("mcp-session-id")',
      replace: 'c.req.path, c.req.header("mcp-session-id")',
      tests: ["packages/mcp-auth/src/mcp/calls/cancelled-calls.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/calls/running-calls.ts": {
    "A cancel that could mean two calls ends none": {
      find: "if (others.length === 0) only",
      replace: "if (others.length >= 0) only",
      tests: ["packages/mcp-auth/src/mcp/calls/cancelled-calls.test.ts"],
    },
    "The signal of a call does not fire after the call": {
      find: '        request.removeEventListener("abort", disconnected);\n',
      replace: "",
      tests: ["packages/mcp-auth/src/mcp/calls/cancelled-calls.test.ts"],
    },
  },
  "packages/mcp-auth/src/start.ts": {
    "A rejection that a tool does not await ends no process": {
      find: "if (tool === undefined) return false;",
      replace: "if (tool !== log.constructor.name) return false;",
      tests: ["packages/mcp-auth/src/author-slips.test.ts"],
    },
    "A rejection outside of tools ends the process": {
      find: "if (tool === undefined) return false;",
      replace: "if (tool === undefined) return true;",
      tests: ["packages/mcp-auth/src/author-slips.test.ts"],
    },
    "The signals of calls fire when a stop cuts them": {
      find: "const ended = server.cutCalls();",
      replace: "const ended = Promise.resolve();",
      tests: ["packages/mcp-auth/src/author-slips.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/metrics.ts": {
    "A rejection that no code awaits is counted as a failure of its tool": {
      rows: ["OB-1"],
      find: 'event === "tool_call" || event === "tool_rejection"',
      replace: 'event === "tool_call"',
      tests: ["packages/mcp-auth/src/author-slips.test.ts"],
    },
  },
};
