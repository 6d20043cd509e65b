/**
 * Defences of the reference platform (its ingress, its forms, the owner of a flow, connectors'
 * secrets) and of the programs in examples/. Part of list.ts.
 */
import type { Mutation } from "../mutation.ts";

const SRC = "apps/platform/src";
const INGRESS = `${SRC}/ingress/ingress.test.ts`;
const ROUTES = `${SRC}/routes/routes.test.ts`;
const QUESTIONS = `${SRC}/agent/link-question.test.ts`;
const TRY = `${SRC}/routes/try.test.ts`;
const EXAMPLES = "e2e/scenarios/delivery/examples.test.ts";

export const PLATFORM_DEFENCES: readonly Mutation[] = [
  {
    defence: "Every path except the exposed ones requires a token",
    rows: ["HT-7", "RS-1"],
    file: `${SRC}/ingress/gate.ts`,
    find: "if (token === undefined) return challenge(upstream);",
    replace: "if (token === undefined) return path === '' ? challenge(upstream) : undefined;",
    tests: [INGRESS],
  },
  {
    defence: "A server without OAuth is reached with the platform's token",
    rows: ["RS-1"],
    file: `${SRC}/ingress/gate.ts`,
    find: 'if (upstream.mode !== "none" || isSame(token, upstream.platformToken.reveal())) return undefined;',
    replace:
      "if (upstream.mode !== \"none\" || isSame(token, upstream.platformToken.reveal()) || token !== '') return undefined;",
    tests: [INGRESS],
  },
  {
    defence: "A caller's forwarded headers are removed",
    rows: ["HT-6"],
    file: `${SRC}/ingress/forwarded-headers.ts`,
    find: "!OF_PROXIES.test(name) && ",
    replace: "!OF_PROXIES.test(`${name} `) && ",
    tests: [INGRESS],
  },
  {
    defence: "A form of the platform counts only in the browser it was shown to",
    rows: ["AS-7"],
    file: `${SRC}/routes/guard.ts`,
    find: 'if (cookie !== undefined && isFormToken(fields.get("csrf"), path, cookie)) return;',
    replace: 'if (cookie !== undefined || isFormToken(fields.get("csrf"), path, cookie as never)) return;',
    tests: [ROUTES],
  },
  {
    defence: "Settings are for administrators",
    file: `${SRC}/routes/guard.ts`,
    find: "if (!user.isAdministrator) throw",
    replace: "if (!user.isAdministrator && user.id === '') throw",
    tests: [ROUTES],
  },
  {
    defence: "A platform answers to its own name",
    rows: ["RS-7"],
    file: "packages/oauth-core/src/authorization-server/browser-binding.ts",
    find: "return new URL(requestUrl).host === new URL(ownUrl).host;",
    replace: "return new URL(requestUrl).host !== new URL(ownUrl).hash;",
    tests: [ROUTES],
  },
  {
    defence: "A connect flow is finished in the session that started it",
    rows: ["XA-7"],
    file: `${SRC}/oauth/connect.ts`,
    find: "  return sessionId;",
    replace: "  return typeof sessionId;",
    tests: [`${SRC}/oauth/connect.test.ts`],
  },
  {
    defence: "A connector's secret opens only for what it was entered for",
    rows: ["BY-2", "BY-4"],
    file: `${SRC}/connectors/connector-secrets.ts`,
    find: "  ...secretRecipient(settings),\n",
    replace: "  ...secretRecipient(settings).slice(0, 0),\n",
    tests: [`${SRC}/connectors/store-on-records.test.ts`],
  },
  {
    defence: "Of a server's URL only https is offered, and http on loopback",
    file: `${SRC}/agent/link-question.ts`,
    find: 'if (!isOpen) return { refused: "is not https" };',
    replace: 'if (!isOpen && text === "") return { refused: "is not https" };',
    tests: [QUESTIONS, TRY],
  },
  {
    defence: "A server's URL with user information is not offered",
    file: `${SRC}/agent/link-question.ts`,
    find: 'if (url.username !== "" || url.password !== "") return',
    replace: 'if (url.username === " " || url.password === " ") return',
    tests: [QUESTIONS, TRY],
  },
  {
    defence: "A server's URL with Punycode is marked",
    file: `${SRC}/agent/link-question.ts`,
    find: 'label.startsWith("xn--")',
    replace: 'label.startsWith("xn--", 64)',
    tests: [QUESTIONS, TRY],
  },
  {
    defence: "The user's answer accepts no URL that was not offered",
    file: `${SRC}/agent/link-question.ts`,
    find: '"refused" in url && answer === "accept" ? "cancel" : answer',
    replace: '"refused" in url && answer === "accept" ? "accept" : answer',
    tests: [QUESTIONS, TRY],
  },
  {
    defence: "A waiting call is answered once",
    file: `${SRC}/agent/pending-calls.ts`,
    find: 'return outcome === "moved" ?',
    replace: 'return outcome !== "absent" ?',
    tests: [TRY],
  },
  {
    defence: "A waiting call is the browser session's that made it",
    file: `${SRC}/agent/pending-calls.ts`,
    find: "id: JSON.stringify([connectorId, sessionId, id]),",
    replace: "id: JSON.stringify([connectorId, sessionId.slice(0, 0), id]),",
    tests: [TRY],
  },
  {
    defence: "A server that asks without end is not asked again",
    file: `${SRC}/agent/pending-calls.ts`,
    find: "if (pending.round > MAX_ROUNDS) {",
    replace: "if (pending.round > MAX_ROUNDS * 9) {",
    tests: [TRY],
  },
  {
    defence: "The Express example takes forms of its own origin only",
    file: "examples/express/main.ts",
    find: 'req.get("origin") === APP_URL',
    replace: 'req.get("origin") !== ""',
    tests: [EXAMPLES],
  },
  {
    defence: "The Fastify example takes forms of its own origin only",
    file: "examples/fastify/main.ts",
    find: "headers.origin !== APP_URL",
    replace: 'headers.origin === ""',
    tests: [EXAMPLES],
  },
  {
    defence: "The Hono example takes forms of its own origin only",
    file: "examples/hono/main.ts",
    find: "app.use(csrf({ origin: APP_URL }));",
    replace: "app.use(csrf({ origin: () => true }));",
    tests: [EXAMPLES],
  },
  {
    defence: "The Express example begins a new session at sign-in",
    rows: ["XA-7"],
    file: "examples/express/main.ts",
    find: "req.session.regenerate((error) => {",
    replace: "req.session.reload((error) => {\n    error = undefined;",
    tests: [EXAMPLES],
  },
  {
    defence: "The Fastify example begins a new session at sign-in",
    rows: ["XA-7"],
    file: "examples/fastify/main.ts",
    find: "await request.session.regenerate();",
    replace: "request.session.touch();",
    tests: [EXAMPLES],
  },
  {
    defence: "The Hono example begins a new session at sign-in",
    rows: ["XA-7"],
    file: "examples/hono/main.ts",
    find: "await c.var.session.update({ user, flows: [] });",
    replace: "await c.var.session.update((old) => ({ flows: [], ...old, user }));",
    tests: [EXAMPLES],
  },
];
