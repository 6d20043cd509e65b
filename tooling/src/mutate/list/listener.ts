/**
 * Defences at the entry of HTTP: sizes, connections, targets, prefetches, signals. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const LISTENER_DEFENCES: DefencesByFile = {
  "packages/oauth-core/src/mechanics/byte-collector.ts": {
    "A body is collected in few chunks": {
      rows: ["HT-1"],
      find: 'if (isChopped(chunks, needed)) return "chopped";',
      replace: 'if (isChopped(chunks, needed * 1e9)) return "chopped";',
      tests: [
        "packages/oauth-core/src/mechanics/byte-collector.test.ts",
        "packages/oauth-core/src/egress/limits.test.ts",
        "packages/service/src/http/body.test.ts",
      ],
    },
  },
  "packages/service/src/serve.ts": {
    "A request in far too many chunks loses its connection, also where nothing reads it": {
      rows: ["HT-1"],
      find: "      endChoppedBody(request);",
      replace: "      if (request.method === undefined) endChoppedBody(request);",
      tests: ["packages/service/src/listener/chopped-bodies.test.ts"],
    },
    "Nothing is served at a target with dot segments": {
      rows: ["HT-7"],
      find: 'else if (!isPlainTarget(request.url ?? "")) refuseTarget(request, response);',
      replace: 'else if (!isPlainTarget(request.url ?? "") && request.method === "") refuseTarget(request, response);',
    },
    "No buffer is made of what a client sends after it was answered": {
      rows: ["HT-1"],
      find: "      endUnreadBody(request, response);",
      replace: "      if (request.method === undefined) endUnreadBody(request, response);",
      tests: ["packages/service/src/listener/unread-bodies.test.ts"],
    },
  },
  "packages/service/src/listener/body-parser.ts": {
    "The parser of a connection that was reset reads the bodies of the next one": {
      find: "parser[at] = onBody;",
      replace: "void onBody;",
      tests: [
        "packages/service/src/listener/chopped-bodies.test.ts",
        "packages/service/src/listener/unread-bodies.test.ts",
      ],
    },
  },
  "packages/service/src/listener/connections.ts": {
    "One address has at most a quarter of the connections": {
      rows: ["ST-8"],
      find: "if (count > most) {",
      replace: "if (count > most * PART_OF_ADDRESS) {",
    },
    "A connection without a request is ended after ten seconds": {
      rows: ["HT-5"],
      find: "fresh.set(socket, setTimeout(giveUp, firstRequestMs));",
      replace: "fresh.set(socket, setTimeout(giveUp, firstRequestMs * 10_000));",
    },
    "A stop ends connections that have sent nothing": {
      find: "if (socket.bytesRead === 0) socket.destroy();\n    },\n  };",
      replace: "if (socket.bytesRead < 0) socket.destroy();\n    },\n  };",
    },
  },
  "packages/service/src/listener/request-target.ts": {
    "A path has one spelling": {
      rows: ["HT-7"],
      find: "if (OTHER_SPELLING.test(path)) return false;",
      replace: 'if (path.includes("\\\\")) return false;',
      tests: ["packages/service/src/listener/request-target.test.ts", "packages/service/src/serve.test.ts"],
    },
    "A request names one host": {
      find: "return lines === 1 || ",
      replace: "return lines > 0 || ",
      tests: ["packages/service/src/listener/request-target.test.ts", "packages/service/src/serve.test.ts"],
    },
  },
  "packages/service/src/listener/refusals.ts": {
    "A browser with too many cookies reads why it is refused, also while it still sends them": {
      find: "if (refused.has(socket)) return;",
      replace: "if (refused.has(socket)) socket.destroy();",
      tests: ["packages/service/src/serve.test.ts"],
    },
  },
  "packages/service/src/http/http-layer.ts": {
    "A prefetch spends nothing": {
      find: 'if (isPage && c.req.method === "GET" && isPrefetch(',
      replace: 'if (isPage && c.req.method === "" && isPrefetch(',
      tests: [
        "apps/platform/src/routes/routes.test.ts",
        "packages/service/src/http/http-layer.test.ts",
        "apps/broker/src/flows/callback.test.ts",
      ],
    },
  },
  "packages/oauth-core/src/authorization-server/browser-binding.ts": {
    "A browser keeps the cookies of twenty flows": {
      find: "Math.max(0, names.length - MOST_FLOW_COOKIES)",
      replace: "Math.max(0, names.length - MOST_FLOW_COOKIES * 100)",
      tests: ["packages/service/src/http/http-layer.test.ts", "apps/broker/src/flows/callback.test.ts"],
    },
  },
  "packages/service/src/run-service.ts": {
    "No signal opens a debugger, and none but three ends a service": {
      find: "for (const signal of IGNORED) process.on(signal, () => undefined);",
      replace: "for (const signal of IGNORED) if (signal.length === 0) process.on(signal, () => undefined);",
    },
    "A closed terminal drains a service": {
      find: 'const STOPS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;',
      replace: 'const STOPS = ["SIGTERM", "SIGINT"] as const;',
    },
  },
  "packages/broker-client/src/broker/http.ts": {
    "A client reads no endless answer of its broker": {
      find: "if (size <= MOST_BYTES && chunks.length <=",
      replace: "if (size <= MOST_BYTES * 1e6 && chunks.length <=",
    },
  },
  "packages/oauth-core/src/egress/answer-budget.ts": {
    "One client's answers take a part of the memory, at however many origins": {
      rows: ["ST-8"],
      find: "(held.get(caller) ?? 0) + bytes <= ofCaller",
      replace: "(held.get(caller) ?? 0) + bytes <= ofCaller * 1e6",
    },
  },
  "packages/service/src/listener/unread-bodies.ts": {
    "A sender that does not stop is not read while it reads its response": {
      rows: ["HT-1"],
      find: "handle?.readStop?.();",
      replace: "if (handle === undefined) socket.pause();",
    },
    "A sender that does not stop has a moment to read its response": {
      find: "lastMoment = setTimeout(() => socket.destroy(), READ_RESPONSE_MS);",
      replace: "lastMoment = setTimeout(() => socket.destroy(), READ_RESPONSE_MS / 500);",
    },
  },
};
