/**
 * Defences that isolate the broker's clients from each other: limits, shares, equal refreshes. Part
 * of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const RATE_LIMIT_DEFENCES: DefencesByFile = {
  "apps/broker/src/grants/lease.ts": {
    "A refresh whose failure cannot be kept ends its own lease alone": {
      find: 'const from = { stage: "calling", expect: { holder } };',
      replace: 'const from = { stage: "calling", expect: holder === "" ? { holder } : {} };',
      tests: ["apps/broker/src/grants/single-flight.test.ts"],
    },
  },
  "apps/broker/src/flows/refresh.ts": {
    "The subject of a shared refresh is compared with the connection of each caller": {
      find: "requireSameSubject(tokens.idToken, expected);",
      replace: "requireSameSubject(tokens.idToken, undefined);",
      tests: ["apps/broker/src/flows/grants.test.ts"],
    },
    "The client is part of what makes two refreshes equal": {
      find: "const parts = [client.clientId, id,",
      replace: "const parts = [client.clientId.slice(0, 0), id,",
      tests: ["apps/broker/src/flows/grants.test.ts"],
    },
  },
  "apps/broker/src/audit/routes.ts": {
    "A client beyond its limit is on record once a minute": {
      find: "if (beyondLimit.left(caller) <= 0) return;",
      replace: "if (beyondLimit.left(caller) < 0) return;",
      tests: ["apps/broker/src/audit/audit.test.ts"],
    },
  },
  "apps/broker/src/rate-limits.ts": {
    "/v1/explain has a limit of its own": {
      find: "explain: createRateLimit(explainPerMinute, now),",
      replace: "explain: createRateLimit(explainPerMinute * 0, now),",
    },
  },
  "apps/broker/src/routes/register.ts": {
    "Token, revoke and register are counted together": {
      find: "deps.rateLimits.vendorCalls.take(countedAs);",
      replace: "",
      tests: ["apps/broker/src/rate-limits.test.ts"],
    },
    "Callers of the sandbox's /register without authentication use up no client's limit": {
      find: "return { client: deps.openTo, countedAs: UNAUTHENTICATED };",
      replace: "return { client: deps.openTo, countedAs: deps.openTo.clientId + UNAUTHENTICATED };",
      tests: ["apps/broker/src/rate-limits.test.ts"],
    },
  },
  "apps/broker/src/routes/api.ts": {
    "A request counts only once its client is authenticated": {
      find: 'const client = await authenticateClient(c.req.header("authorization"), parameters, deps);',
      replace:
        'deps.rateLimits[counted].take(parameters.get("client_id") ?? "");\n      const client = await authenticateClient(c.req.header("authorization"), parameters, deps);',
      tests: ["apps/broker/src/rate-limits.test.ts"],
    },
  },
  "packages/service/src/http/rate-limit.ts": {
    "The rate limit refuses beyond its count": {
      find: "if (left(caller) > 0) return;",
      replace: "if (left(caller) > -1e6) return;",
      tests: ["apps/broker/src/rate-limits.test.ts"],
    },
  },
  "packages/oauth-core/src/egress/share.ts": {
    "One caller has at most half of an origin's connections": {
      find: "mostOfLane: () => CONNECTIONS_PER_CALLER,",
      replace: "mostOfLane: () => CONNECTIONS_PER_CALLER * 2,",
      tests: ["packages/oauth-core/src/egress/share.test.ts", "packages/oauth-core/src/egress/pools.test.ts"],
    },
    "One caller has at most a thousand calls to an origin in flight or waiting": {
      find: "mostInLane: CALLS_PER_CALLER,",
      replace: "mostInLane: CALLS_PER_CALLER * 9,",
      tests: ["packages/oauth-core/src/egress/share.test.ts", "packages/oauth-core/src/egress/pools.test.ts"],
    },
  },
  "packages/oauth-core/src/mechanics/turns.ts": {
    "Calls that wait for a turn are served lane by lane": {
      find: "      lanes.delete(name);\n      lanes.set(name, lane);",
      replace: '      if (name === " ") lanes.delete(name);',
      tests: ["packages/oauth-core/src/mechanics/turns.test.ts", "packages/oauth-core/src/egress/share.test.ts"],
    },
  },
  "apps/broker/src/app.ts": {
    "The broker's outbound calls count for the client of the request": {
      find: "handle: (c, trace) => onBehalfOf(trace, () => route.handle(c, trace))",
      replace: "handle: (c, trace) => route.handle(c, trace)",
    },
    "Metadata and key sets that all clients wait for count for no client": {
      find: "onBehalfOf({}, () => egress.fetch(input, init));",
      replace: "egress.fetch(input, init);",
    },
  },
  "packages/service/src/tracing/traceparent.ts": {
    "Of a caller's trace header only hexadecimal digits get into the log": {
      rows: ["OB-7"],
      find: "TRACEPARENT.exec(header) ?? []",
      replace: '[header, ...header.split("-")]',
    },
  },
  "packages/service/src/tracing/spans.ts": {
    "What a span says passes the rules of the log: no query, nothing long": {
      rows: ["OB-2"],
      find: 'typeof value === "string" ? plainText(value) : value',
      replace: "value",
      tests: ["packages/service/src/tracing/exporter.test.ts"],
    },
  },
  "packages/service/src/listener/unread-answers.ts": {
    "A connection that reads nothing of an answer is closed": {
      find: "if (socket.writableLength > 0) socket.resetAndDestroy();",
      replace: "if (socket.writableLength < 0) socket.resetAndDestroy();",
    },
    "A pipelined request starts when the previous answer has been sent": {
      find: "if (response.socket !== null) {",
      replace: "if (response.socket !== null || MAX_WAITING > 0) {",
    },
    "A connection with more than sixteen pipelined requests is closed": {
      find: "if (count > MAX_WAITING) {",
      replace: "if (count > MAX_WAITING * 100) {",
    },
  },
  "packages/service/src/serve.ts": {
    "The number of connections is limited": {
      find: "server.maxConnections = maxConnections;",
      replace: "server.maxConnections = maxConnections * 1000;",
      tests: ["packages/service/src/listener/unread-answers.test.ts"],
    },
  },
};
