/**
 * Defences of the reference platform (its ingress, its forms, the owner of a flow, connectors'
 * secrets) and of the programs in examples/. Part of list.ts.
 */
import type { DefencesByFile } from "../mutation.ts";

export const PLATFORM_DEFENCES: DefencesByFile = {
  "apps/platform/src/ingress/gate.ts": {
    "Every path except the exposed ones requires a token": {
      rows: ["HT-7", "RS-1"],
      find: "if (token === undefined) return challenge(upstream);",
      replace: "if (token === undefined) return path === '' ? challenge(upstream) : undefined;",
      tests: ["apps/platform/src/ingress/ingress.test.ts"],
    },
    "A server without OAuth is reached with the platform's token": {
      rows: ["RS-1"],
      find: 'if (upstream.mode !== "none" || isSame(token, upstream.platformToken.reveal())) return undefined;',
      replace:
        "if (upstream.mode !== \"none\" || isSame(token, upstream.platformToken.reveal()) || token !== '') return undefined;",
      tests: ["apps/platform/src/ingress/ingress.test.ts"],
    },
  },
  "apps/platform/src/ingress/forwarded-headers.ts": {
    "A caller's forwarded headers are removed": {
      rows: ["HT-6"],
      find: "!OF_PROXIES.test(name) && ",
      replace: "!OF_PROXIES.test(`${name} `) && ",
      tests: ["apps/platform/src/ingress/ingress.test.ts"],
    },
  },
  "apps/platform/src/routes/guard.ts": {
    "A form of the platform counts only in the browser it was shown to": {
      rows: ["AS-7"],
      find: 'if (cookie !== undefined && isFormToken(fields.get("csrf"), path, cookie)) return;',
      replace: 'if (cookie !== undefined || isFormToken(fields.get("csrf"), path, cookie as never)) return;',
      tests: ["apps/platform/src/routes/routes.test.ts"],
    },
    "Settings are for administrators": {
      find: "if (!user.isAdministrator) throw",
      replace: "if (!user.isAdministrator && user.id === '') throw",
      tests: ["apps/platform/src/routes/routes.test.ts"],
    },
  },
  "packages/oauth-core/src/authorization-server/browser-binding.ts": {
    "A platform answers to its own name": {
      rows: ["RS-7"],
      find: "return new URL(requestUrl).host === new URL(ownUrl).host;",
      replace: "return new URL(requestUrl).host !== new URL(ownUrl).hash;",
      tests: ["apps/platform/src/routes/routes.test.ts"],
    },
  },
  "apps/platform/src/oauth/connect.ts": {
    "A connect flow is finished in the session that started it": {
      rows: ["XA-7"],
      find: "  return sessionId;",
      replace: "  return typeof sessionId;",
    },
  },
  "apps/platform/src/connectors/connector-secrets.ts": {
    "A connector's secret opens only for what it was entered for": {
      rows: ["BY-2", "BY-4"],
      find: "  ...secretRecipient(settings),\n",
      replace: "  ...secretRecipient(settings).slice(0, 0),\n",
      tests: ["apps/platform/src/connectors/store-on-records.test.ts"],
    },
  },
  "apps/platform/src/agent/link-question.ts": {
    "Of a server's URL only https is offered, and http on loopback": {
      find: 'if (!isOpen) return { refused: "is not https" };',
      replace: 'if (!isOpen && text === "") return { refused: "is not https" };',
      tests: ["apps/platform/src/agent/link-question.test.ts", "apps/platform/src/routes/try.test.ts"],
    },
    "A server's URL with user information is not offered": {
      find: 'if (url.username !== "" || url.password !== "") return',
      replace: 'if (url.username === " " || url.password === " ") return',
      tests: ["apps/platform/src/agent/link-question.test.ts", "apps/platform/src/routes/try.test.ts"],
    },
    "A server's URL with Punycode is marked": {
      find: 'label.startsWith("xn--")',
      replace: 'label.startsWith("xn--", 64)',
      tests: ["apps/platform/src/agent/link-question.test.ts", "apps/platform/src/routes/try.test.ts"],
    },
    "The user's answer accepts no URL that was not offered": {
      find: '"refused" in url && answer === "accept" ? "cancel" : answer',
      replace: '"refused" in url && answer === "accept" ? "accept" : answer',
      tests: ["apps/platform/src/agent/link-question.test.ts", "apps/platform/src/routes/try.test.ts"],
    },
  },
  "apps/platform/src/agent/pending-calls.ts": {
    "A waiting call is answered once": {
      find: 'return outcome === "moved" ?',
      replace: 'return outcome !== "absent" ?',
      tests: ["apps/platform/src/routes/try.test.ts"],
    },
    "A waiting call is the browser session's that made it": {
      find: "id: JSON.stringify([connectorId, sessionId, id]),",
      replace: "id: JSON.stringify([connectorId, sessionId.slice(0, 0), id]),",
      tests: ["apps/platform/src/routes/try.test.ts"],
    },
    "A server that asks without end is not asked again": {
      find: "if (pending.round > MAX_ROUNDS) {",
      replace: "if (pending.round > MAX_ROUNDS * 9) {",
      tests: ["apps/platform/src/routes/try.test.ts"],
    },
  },
  "examples/express/main.ts": {
    "The Express example takes forms of its own origin only": {
      find: 'req.get("origin") === APP_URL',
      replace: 'req.get("origin") !== ""',
      tests: ["e2e/scenarios/delivery/examples.test.ts"],
    },
    "The Express example begins a new session at sign-in": {
      rows: ["XA-7"],
      find: "req.session.regenerate((error) => {",
      replace: "req.session.reload((error) => {\n    error = undefined;",
      tests: ["e2e/scenarios/delivery/examples.test.ts"],
    },
  },
  "examples/fastify/main.ts": {
    "The Fastify example takes forms of its own origin only": {
      find: "headers.origin !== APP_URL",
      replace: 'headers.origin === ""',
      tests: ["e2e/scenarios/delivery/examples.test.ts"],
    },
    "The Fastify example begins a new session at sign-in": {
      rows: ["XA-7"],
      find: "await request.session.regenerate();",
      replace: "request.session.touch();",
      tests: ["e2e/scenarios/delivery/examples.test.ts"],
    },
  },
  "examples/hono/main.ts": {
    "The Hono example takes forms of its own origin only": {
      find: "app.use(csrf({ origin: APP_URL }));",
      replace: "app.use(csrf({ origin: () => true }));",
      tests: ["e2e/scenarios/delivery/examples.test.ts"],
    },
    "The Hono example begins a new session at sign-in": {
      rows: ["XA-7"],
      find: "await c.var.session.update({ user, flows: [] });",
      replace: "await c.var.session.update((old) => ({ flows: [], ...old, user }));",
      tests: ["e2e/scenarios/delivery/examples.test.ts"],
    },
  },
};
