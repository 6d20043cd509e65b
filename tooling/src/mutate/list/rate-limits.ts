/**
 * Defences that isolate the broker's clients from each other: limits, shares, equal refreshes. Part
 * of list.ts.
 */
import type { Mutation } from "../mutation.ts";

export const RATE_LIMIT_DEFENCES: readonly Mutation[] = [
  {
    defence: "A refresh whose failure cannot be kept ends its own lease alone",
    file: "apps/broker/src/connections/single-flight.ts",
    find: 'const from = { stage: "calling", expect: { holder } };',
    replace: 'const from = { stage: "calling", expect: holder === "" ? { holder } : {} };',
    tests: ["apps/broker/src/connections/single-flight.test.ts"],
  },
  {
    defence: "The subject of a shared refresh is compared with the connection of each caller",
    file: "apps/broker/src/flows/refresh.ts",
    find: "requireSameSubject(tokens.idToken, expected);",
    replace: "requireSameSubject(tokens.idToken, undefined);",
    tests: ["apps/broker/src/flows/grants.test.ts"],
  },
  {
    defence: "The client is part of what makes two refreshes equal",
    file: "apps/broker/src/flows/refresh.ts",
    find: "const parts = [client.clientId, id,",
    replace: "const parts = [client.clientId.slice(0, 0), id,",
    tests: ["apps/broker/src/flows/grants.test.ts"],
  },
  {
    defence: "Every API endpoint counts an authenticated client's request against its limit",
    file: "apps/broker/src/routes/api.ts",
    find: "deps.rateLimits[counted].take(client.clientId);",
    replace: 'if (client.clientId === "") deps.rateLimits[counted].take(client.clientId);',
    tests: ["apps/broker/src/rate-limits.test.ts", "apps/broker/src/flows/start-legs.test.ts"],
  },
  {
    defence: "/v1/explain has a limit of its own",
    file: "apps/broker/src/rate-limits.ts",
    find: "explain: createRateLimit(explainPerMinute, now),",
    replace: "explain: createRateLimit(explainPerMinute * 0, now),",
    tests: ["apps/broker/src/rate-limits.test.ts"],
  },
  {
    defence: "Token, revoke and register are counted together",
    file: "apps/broker/src/routes/register.ts",
    find: "deps.rateLimits.vendorCalls.take(countedAs);",
    replace: "",
    tests: ["apps/broker/src/rate-limits.test.ts"],
  },
  {
    defence: "A request counts only once its client is authenticated",
    file: "apps/broker/src/routes/api.ts",
    find: 'const client = await authenticateClient(c.req.header("authorization"), parameters, deps);',
    replace:
      'deps.rateLimits[counted].take(parameters.get("client_id") ?? "");\n      const client = await authenticateClient(c.req.header("authorization"), parameters, deps);',
    tests: ["apps/broker/src/rate-limits.test.ts"],
  },
  {
    defence: "Callers of the sandbox's /register without authentication use up no client's limit",
    file: "apps/broker/src/routes/register.ts",
    find: "return { client: deps.openTo, countedAs: UNAUTHENTICATED };",
    replace: "return { client: deps.openTo, countedAs: deps.openTo.clientId + UNAUTHENTICATED };",
    tests: ["apps/broker/src/rate-limits.test.ts"],
  },
  {
    defence: "At most sixty registrations a minute for each client",
    file: "apps/broker/src/routes/register.ts",
    find: "deps.rateLimits.registrations.take(countedAs);",
    replace: "",
    tests: ["apps/broker/src/flows/register-callers.test.ts"],
  },
  {
    defence: "The rate limit refuses beyond its count",
    file: "packages/oauth-core/src/service/rate-limit.ts",
    find: "if (left(caller) > 0) return;",
    replace: "if (left(caller) > -1e6) return;",
    tests: ["apps/broker/src/rate-limits.test.ts"],
  },
  {
    defence: "One caller has at most half of an origin's connections",
    file: "packages/oauth-core/src/egress/share.ts",
    find: "mostOfLane: () => CONNECTIONS_PER_CALLER,",
    replace: "mostOfLane: () => CONNECTIONS_PER_CALLER * 2,",
    tests: ["packages/oauth-core/src/egress/share.test.ts", "packages/oauth-core/src/egress/pools.test.ts"],
  },
  {
    defence: "One caller has at most a thousand calls to an origin in flight or waiting",
    file: "packages/oauth-core/src/egress/share.ts",
    find: "mostInLane: CALLS_PER_CALLER,",
    replace: "mostInLane: CALLS_PER_CALLER * 9,",
    tests: ["packages/oauth-core/src/egress/share.test.ts", "packages/oauth-core/src/egress/pools.test.ts"],
  },
  {
    defence: "Calls that wait for a turn are served lane by lane",
    file: "packages/oauth-core/src/mechanics/turns.ts",
    find: "      lanes.delete(name);\n      lanes.set(name, lane);",
    replace: '      if (name === " ") lanes.delete(name);',
    tests: ["packages/oauth-core/src/mechanics/turns.test.ts", "packages/oauth-core/src/egress/share.test.ts"],
  },
  {
    defence: "The broker's outbound calls count for the client of the request",
    file: "apps/broker/src/app.ts",
    find: "handle: (c, trace) => onBehalfOf(trace, () => route.handle(c, trace))",
    replace: "handle: (c, trace) => route.handle(c, trace)",
    tests: ["apps/broker/src/app.test.ts"],
  },
  {
    defence: "Metadata and key sets that all clients wait for count for no client",
    file: "apps/broker/src/app.ts",
    find: "onBehalfOf({}, () => egress.fetch(input, init));",
    replace: "egress.fetch(input, init);",
    tests: ["apps/broker/src/app.test.ts"],
  },
  {
    defence: "A connection that reads nothing of an answer is closed",
    file: "packages/oauth-core/src/service/unread-answers.ts",
    find: "if (socket.writableLength > 0) socket.resetAndDestroy();",
    replace: "if (socket.writableLength < 0) socket.resetAndDestroy();",
    tests: ["packages/oauth-core/src/service/unread-answers.test.ts"],
  },
  {
    defence: "A pipelined request starts when the previous answer has been sent",
    file: "packages/oauth-core/src/service/unread-answers.ts",
    find: "if (response.socket !== null) {",
    replace: "if (response.socket !== null || MAX_WAITING > 0) {",
    tests: ["packages/oauth-core/src/service/unread-answers.test.ts"],
  },
  {
    defence: "A connection with more than sixteen pipelined requests is closed",
    file: "packages/oauth-core/src/service/unread-answers.ts",
    find: "if (count > MAX_WAITING) {",
    replace: "if (count > MAX_WAITING * 100) {",
    tests: ["packages/oauth-core/src/service/unread-answers.test.ts"],
  },
  {
    defence: "A connection carries at most a thousand requests",
    file: "packages/oauth-core/src/service/serve.ts",
    find: "server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;",
    replace: "server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION * 0;",
    tests: ["packages/oauth-core/src/service/unread-answers.test.ts"],
  },
  {
    defence: "The number of connections is limited",
    file: "packages/oauth-core/src/service/serve.ts",
    find: "server.maxConnections = maxConnections;",
    replace: "server.maxConnections = maxConnections * 1000;",
    tests: ["packages/oauth-core/src/service/unread-answers.test.ts"],
  },
];
