// A platform's backend on Hono. Its users connect their GitHub accounts through the broker, and it
// calls GitHub with their tokens. README.md says how to start it.
import { randomBytes } from "node:crypto";
import { serve } from "@hono/node-server";
import { type SessionEnv, useSession } from "@hono/session";
import { BrokerClientError, createBrokerClient, type Session as Flow, type Tokens } from "@oauth-broker/broker-client";
import { Hono } from "hono";
import { setCookie } from "hono/cookie";
import { csrf } from "hono/csrf";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";

const { env } = process;
const missing = ["BROKER_URL", "BROKER_CLIENT_ID", "BROKER_CLIENT_SECRET"].filter((name) => !env[name]);
if (missing.length > 0) throw new Error(`Set ${missing.join(", ")}: README.md says where they come from`);
const { BROKER_URL: issuer = "", BROKER_CLIENT_ID: clientId = "", BROKER_CLIENT_SECRET: clientSecret = "" } = env;
const { PORT = "3000", APP_URL = `http://127.0.0.1:${PORT}`, GITHUB_API_URL = "https://api.github.com" } = env;
const broker = createBrokerClient({ issuer, clientId, clientSecret, redirectUri: `${APP_URL}/oauth/callback` });

// Your own store goes here. It encrypts: these are the users' real tokens.
const tokensOf = new Map<string, Tokens>();

/** In an encrypted, HttpOnly, SameSite=Lax cookie. */
interface SessionData extends Record<string, unknown> {
  user: string;
  /** Under way in several tabs, each with its PKCE verifier. Of two begun at the same moment one is lost. */
  flows: Flow[];
}

const app = new Hono<SessionEnv<SessionData> & { Variables: { user: string; flows: Flow[] } }>();
app.use(csrf({ origin: APP_URL }));
app.use(
  useSession<SessionData>({
    secret: env.SESSION_SECRET ?? randomBytes(32).toString("hex"),
    duration: { absolute: 8 * 3600 },
    setCookie: (c, name, value, options) =>
      setCookie(c, name, value, { ...options, secure: APP_URL.startsWith("https:") }),
  }),
);

// Your own login goes here. It begins a new session: nothing planted in the old session stays.
app.post("/sign-in", async (c) => {
  const { user } = await c.req.parseBody<{ user: string }>();
  await c.var.session.update({ user, flows: [] });
  return c.redirect("/", 303);
});
app.use(async (c, next) => {
  const session = await c.var.session.get();
  if (!session?.user) return c.html(page(form("sign-in", html`<input name="user" value="user" />`)));
  c.set("user", session.user);
  c.set("flows", session.flows);
  return next();
});

app.get("/", async (c) => {
  const tokens = tokensOf.get(c.var.user);
  const parts = tokens ? [await readAccount(tokens), form("refresh"), form("disconnect")] : [form("connect")];
  return c.html(page(`Signed in as ${c.var.user}.`, ...parts));
});

app.post("/connect", async (c) => {
  const { user, flows } = c.var;
  const started = await broker.start({ vendor: "github", scope: "read:user" });
  await c.var.session.update({ user, flows: [...flows, started.session].slice(-3) }); // A cookie holds 4 KB.
  return c.redirect(started.url, 303);
});

app.get("/oauth/callback", async (c) => {
  const { user, flows } = c.var;
  const flow = flows.find(({ state }) => state === c.req.query("state"));
  await c.var.session.update({ user, flows: flows.filter((one) => one !== flow) });
  tokensOf.set(user, await broker.finish(c.req.url, flow));
  return c.redirect("/", 303);
});

app.post("/refresh", async (c) => {
  const { refreshToken, connection = "" } = tokensOf.get(c.var.user) ?? {};
  const refreshed = await broker.refresh({ refreshToken, connection });
  if (refreshed.outcome === "ok") tokensOf.set(c.var.user, refreshed.tokens);
  else if (refreshed.outcome === "reauthorize") tokensOf.delete(c.var.user);
  else throw refreshed.error;
  return c.redirect("/", 303);
});

app.post("/disconnect", async (c) => {
  const tokens = tokensOf.get(c.var.user);
  if (tokens === undefined) return c.redirect("/", 303);
  const revoked = await broker.revoke({ token: tokens.accessToken, connection: tokens.connection });
  tokensOf.delete(c.var.user);
  return c.html(page(revoked.outcome === "revoked" ? "Disconnected." : revoked.help));
});

async function readAccount({ accessToken }: Tokens): Promise<string> {
  const request = { headers: { authorization: `Bearer ${accessToken}` }, signal: AbortSignal.timeout(10_000) };
  const answer = await fetch(`${GITHUB_API_URL}/user`, request).catch(() => undefined);
  if (!answer?.ok) return `GitHub answers ${answer?.status ?? "nothing"}. Refresh, or disconnect and connect again.`;
  const { login } = (await answer.json()) as { login: string };
  return `Connected to GitHub as ${login}.`;
}

const ERRORS: Record<string, readonly [status: 400 | 403 | 503, text: string]> = {
  access_denied: [403, "You cancelled at GitHub, so nothing was connected."],
  invalid_session: [400, "You did not begin this connection here, or it took too long. Connect again."],
  temporarily_unavailable: [503, "GitHub cannot be reached at the moment. Try again in a minute."],
};
app.onError((error, c) => {
  if (error instanceof HTTPException) return error.getResponse();
  console.error(error);
  const [status, text] =
    (error instanceof BrokerClientError && ERRORS[error.code]) || ([502, "This did not work."] as const);
  return c.html(page(text), status);
});

type Part = string | ReturnType<typeof html>;
const page = (...parts: Part[]) => html`${parts.map((part) => html`<p>${part}</p>`)}<a href="/">Home</a>`;
const form = (action: string, fields: Part = "") =>
  html`<form method="post" action="/${action}">${fields}<button>${action}</button></form>`;

serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" }, () => console.log(`Open ${APP_URL}`));
