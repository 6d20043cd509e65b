/**
 * Defences towards clients in browsers and native clients: origins, preflights, redirect URIs of
 * programs. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const BROWSER_CLIENT_DEFENCES: DefencesByFile = {
  "packages/mcp-auth/src/mcp/endpoint.ts": {
    "/mcp requires the token before it reveals the methods": {
      find: '        if (!("challenge" in found)) return undefined;',
      replace: '        if (!("challenge" in found) || found.challenge.status !== 0) return undefined;',
      tests: ["packages/mcp-auth/src/mcp/endpoint.test.ts", "packages/mcp-auth/src/origins.test.ts"],
    },
  },
  "packages/oauth-core/src/protocol/redirect-uri.ts": {
    "A native client's host stays exact: localhost is neither 127.0.0.1 nor [::1]": {
      find: "hostA !== undefined && hostA === hostB && restA === restB",
      replace: "hostA !== undefined && hostB !== undefined && restA === restB",
      tests: [
        "packages/oauth-core/src/protocol/redirect-uri.test.ts",
        "packages/mcp-auth/src/hosted/clients/metadata-document.test.ts",
      ],
    },
    "A native client's path and query stay exact while its port is free": {
      find: "hostA === hostB && restA === restB",
      replace: "hostA === hostB && (restA === restB || restB !== undefined)",
      tests: [
        "packages/oauth-core/src/protocol/redirect-uri.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/authorize-errors.test.ts",
      ],
    },
    "The port of localhost is free (this client must be accepted)": {
      find: "(127\\.0\\.0\\.1|\\[::1\\]|localhost)(?::",
      replace: "(127\\.0\\.0\\.1|\\[::1\\])(?::",
      tests: [
        "packages/oauth-core/src/protocol/redirect-uri.test.ts",
        "packages/mcp-auth/src/hosted/clients/metadata-document.test.ts",
      ],
    },
    "The loopback port is a valid port without leading zeros": {
      find: " && Number(portB ?? 80) <= 65_535",
      replace: ' && portB !== "0"',
      tests: [
        "packages/oauth-core/src/protocol/redirect-uri.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/authorize-errors.test.ts",
      ],
    },
    "The list of a backend's redirect URIs is exact, port included": {
      find: "if (!registered.includes(requested)) throw notRegistered();",
      replace:
        "if (!registered.some((uri) => uri === requested || differOnlyInLoopbackPort(uri, requested))) throw notRegistered();",
      tests: [
        "packages/oauth-core/src/protocol/redirect-uri.test.ts",
        "packages/oauth-core/src/authorization-server/pushed-request.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/brokered-code/redeem.ts": {
    "The code of a native client is redeemed with the exact URI of its request": {
      find: 'parameters.require("redirect_uri") === flow.redirectUri) return;',
      replace:
        'parameters.require("redirect_uri").replace(/:\\d+/, "") === flow.redirectUri?.replace(/:\\d+/, "")) return;',
      tests: ["packages/mcp-auth/src/hosted/clients/metadata-document.test.ts"],
    },
  },
  "packages/mcp-auth/src/hosted/server-callback/consent-page.ts": {
    "The consent page says that the answer goes to a program on this computer, on localhost too": {
      find: "/^(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?$/",
      replace: "/^(127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?$/",
      tests: [
        "packages/mcp-auth/src/hosted/server-callback/consent-page.test.ts",
        "packages/mcp-auth/src/hosted/server-callback/authorize-errors.test.ts",
      ],
    },
  },
  "packages/service/src/http/cors.ts": {
    "Only origins on the list may read what a route answers": {
      find: "listed.has(origin) || (isOpen && isSerializedOrigin(origin))",
      replace: "listed.has(origin) || isSerializedOrigin(origin)",
      tests: ["packages/service/src/http/cors.test.ts", "packages/mcp-auth/src/origins.test.ts"],
    },
    "Null is not an origin, not even with *": {
      find: "(isOpen && isSerializedOrigin(origin))",
      replace: "isOpen",
      tests: ["packages/service/src/http/cors.test.ts", "packages/mcp-auth/src/origins.test.ts"],
    },
    "Null on the list matches nothing": {
      find: "new Set(allowed.filter(isSerializedOrigin))",
      replace: "new Set(allowed)",
    },
    "Answers that depend on the origin carry Vary": {
      find: 'const VARY = { vary: "Origin" } as const;',
      replace: "const VARY = {} as const;",
      tests: ["packages/service/src/http/cors.test.ts", "packages/mcp-auth/src/origins.test.ts"],
    },
    "No credentials: no page acts with the user's cookies": {
      find: '"access-control-max-age": "600",',
      replace: '"access-control-max-age": "600",\n  "access-control-allow-credentials": "true",',
      tests: ["packages/service/src/http/cors.test.ts", "packages/mcp-auth/src/origins.test.ts"],
    },
    "A preflight of an origin that is not on the list gets no permission": {
      find: "origin !== undefined && cors.allows(origin);",
      replace: 'origin !== undefined && (cors.allows(origin) || origin !== "");',
    },
  },
  "packages/service/src/configuration/values.ts": {
    "An entry that is not a serialized origin is refused at start": {
      find: "return entry === ANY_ORIGIN || isSerializedOrigin(entry)",
      replace: "return entry.length > 0",
      tests: ["packages/service/src/http/cors.test.ts", "packages/mcp-auth/src/config/refusals.test.ts"],
    },
  },
  "packages/service/src/http/http-layer.ts": {
    "A page on the list may read errors too": {
      find: '...route.cors?.headersFor(c.req.header("origin")) };',
      replace: '...(answer.status < 400 ? route.cors?.headersFor(c.req.header("origin")) : {}) };',
      tests: ["packages/service/src/http/cors.test.ts", "packages/mcp-auth/src/origins.test.ts"],
    },
  },
  "packages/mcp-auth/src/origins.ts": {
    "No other origin may read our own pages and callbacks, whatever the list says": {
      find: "if (!CALLED_BY_CLIENTS.has(route.path)) return guardRoute(route, isOurs);",
      replace: "if (!CALLED_BY_CLIENTS.has(route.path)) return guardRoute(route, isClient);",
    },
    "A foreign Origin gets 403 at the endpoints for clients": {
      find: "withCors(route, cors), isClient);",
      replace: "withCors(route, cors), (host, origin) => isClient(host, origin) || isOurHost(host, origin));",
      tests: ["packages/mcp-auth/src/origins.test.ts", "packages/mcp-auth/src/app.test.ts"],
    },
  },
  "packages/mcp-auth/src/mcp/admission/known-host.ts": {
    "A foreign Host gets 403, even with an allowed Origin": {
      find: "isHostOf(own, host) &&",
      replace: "host !== undefined &&",
      tests: ["packages/mcp-auth/src/mcp/admission/known-host.test.ts", "packages/mcp-auth/src/app.test.ts"],
    },
    "Methods that a path does not serve are checked for Host and Origin too": {
      find: "      requireKnown(c);\n      return route.otherMethods?.(c, trace);",
      replace: "      return route.otherMethods?.(c, trace);",
      tests: ["packages/mcp-auth/src/app.test.ts", "packages/mcp-auth/src/origins.test.ts"],
    },
  },
  "apps/platform/src/ingress/gate.ts": {
    "The ingress passes OPTIONS /mcp alone without a token, not every method": {
      find: 'method === "OPTIONS" && path === MCP &&',
      replace: 'method !== "" && path === MCP &&',
      tests: ["apps/platform/src/ingress/ingress.test.ts"],
    },
    "The ingress passes OPTIONS /mcp alone without a token, not every path": {
      find: 'method === "OPTIONS" && path === MCP &&',
      replace: 'method === "OPTIONS" && path.length >= MCP.length - 3 &&',
      tests: ["apps/platform/src/ingress/ingress.test.ts"],
    },
    "Nothing passes the ingress without a token to a server without a check of its own": {
      find: 'path === MCP && upstream.mode !== "none") return',
      replace: "path === MCP) return",
      tests: ["apps/platform/src/ingress/ingress.test.ts"],
    },
  },
};
