/** Defences where HTTP enters: sizes, connections, targets, prefetches, signals. Part of list.ts. */
import type { Mutation } from "../mutation.ts";

const LISTENER = "packages/oauth-core/src/service/listener";

export const LISTENER_DEFENCES: readonly Mutation[] = [
  {
    defence: "A body is collected in few chunks",
    rows: ["HT-1"],
    file: "packages/oauth-core/src/mechanics/byte-collector.ts",
    find: 'if (isChopped(chunks, needed)) return "chopped";',
    replace: 'if (isChopped(chunks, needed * 1e9)) return "chopped";',
    tests: [
      "packages/oauth-core/src/mechanics/byte-collector.test.ts",
      "packages/oauth-core/src/egress/limits.test.ts",
      "packages/oauth-core/src/http/body.test.ts",
    ],
  },
  {
    defence: "A request in far too many chunks loses its connection, also where nothing reads it",
    rows: ["HT-1"],
    file: "packages/oauth-core/src/service/serve.ts",
    find: "if (hasBody(request)) endChoppedBody(request);",
    replace: "if (hasBody(request) && request.method === undefined) endChoppedBody(request);",
    tests: [`${LISTENER}/chopped-bodies.test.ts`],
  },
  {
    defence: "The parser of a connection that was reset reads the bodies of the next one",
    file: `${LISTENER}/chopped-bodies.ts`,
    find: "parser[at] = onBody;",
    replace: "void onBody;",
    tests: [`${LISTENER}/chopped-bodies.test.ts`],
  },
  {
    defence: "One address has at most a quarter of the connections",
    rows: ["ST-8"],
    file: `${LISTENER}/connections.ts`,
    find: "if (count > most) {",
    replace: "if (count > most * PART_OF_ADDRESS) {",
    tests: [`${LISTENER}/connections.test.ts`],
  },
  {
    defence: "A connection without a request is ended after ten seconds",
    rows: ["HT-5"],
    file: `${LISTENER}/connections.ts`,
    find: "fresh.set(socket, setTimeout(giveUp, firstRequestMs));",
    replace: "fresh.set(socket, setTimeout(giveUp, firstRequestMs * 10_000));",
    tests: [`${LISTENER}/connections.test.ts`],
  },
  {
    defence: "A stop ends connections that have sent nothing",
    file: `${LISTENER}/connections.ts`,
    find: "if (socket.bytesRead === 0) socket.destroy();\n    },\n  };",
    replace: "if (socket.bytesRead < 0) socket.destroy();\n    },\n  };",
    tests: [`${LISTENER}/connections.test.ts`],
  },
  {
    defence: "Nothing is served at a target with dot segments",
    rows: ["HT-7"],
    file: "packages/oauth-core/src/service/serve.ts",
    find: 'if (!isPlainTarget(request.url ?? "")) refuseTarget(request, response);',
    replace: 'if (!isPlainTarget(request.url ?? "") && request.method === "") refuseTarget(request, response);',
    tests: ["packages/oauth-core/src/service/serve.test.ts"],
  },
  {
    defence: "Encoded dots are dots",
    rows: ["HT-7"],
    file: `${LISTENER}/request-target.ts`,
    find: 'const name = segment.replace(DOT, ".");',
    replace: 'const name = segment.replace(DOT, "%2e");',
    tests: [`${LISTENER}/request-target.test.ts`, "packages/oauth-core/src/service/serve.test.ts"],
  },
  {
    defence: "A browser with too many cookies reads why it is refused, also while it still sends them",
    file: `${LISTENER}/refusals.ts`,
    find: "if (refused.has(socket)) return;",
    replace: "if (refused.has(socket)) socket.destroy();",
    tests: ["packages/oauth-core/src/service/serve.test.ts"],
  },
  {
    defence: "A prefetch spends nothing",
    file: "packages/oauth-core/src/service/http-layer.ts",
    find: 'if (isPage && c.req.method === "GET" && isPrefetch(',
    replace: 'if (isPage && c.req.method === "" && isPrefetch(',
    tests: ["packages/oauth-core/src/service/http-layer.test.ts", "apps/broker/src/flows/callback.test.ts"],
  },
  {
    defence: "A browser keeps the cookies of twenty flows",
    file: "packages/oauth-core/src/authorization-server/browser-binding.ts",
    find: "Math.max(0, names.length - MOST_FLOW_COOKIES)",
    replace: "Math.max(0, names.length - MOST_FLOW_COOKIES * 100)",
    tests: ["packages/oauth-core/src/service/http-layer.test.ts", "apps/broker/src/flows/callback.test.ts"],
  },
  {
    defence: "No signal opens a debugger, and none but three ends a service",
    file: "packages/oauth-core/src/service/run-service.ts",
    find: "for (const signal of IGNORED) process.on(signal, () => undefined);",
    replace: "for (const signal of IGNORED) if (signal.length === 0) process.on(signal, () => undefined);",
    tests: ["packages/oauth-core/src/service/run-service.test.ts"],
  },
  {
    defence: "A closed terminal drains a service",
    file: "packages/oauth-core/src/service/run-service.ts",
    find: 'const STOPS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;',
    replace: 'const STOPS = ["SIGTERM", "SIGINT"] as const;',
    tests: ["packages/oauth-core/src/service/run-service.test.ts"],
  },
];
