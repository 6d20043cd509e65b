// A platform's backend on Express. Its users connect their GitHub accounts through the broker, and
// it calls GitHub with their tokens. README.md says how to start it.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { BrokerClientError, createBrokerClient, type Session as Flow, type Tokens } from "@oauth-broker/broker-client";
import express, { type ErrorRequestHandler } from "express";
import session from "express-session";

const { env } = process;
const missing = ["BROKER_URL", "BROKER_CLIENT_ID", "BROKER_CLIENT_SECRET"].filter((name) => !env[name]);
if (missing.length > 0) throw new Error(`Set ${missing.join(", ")}: README.md says where they come from`);
const { BROKER_URL: issuer = "", BROKER_CLIENT_ID: clientId = "", BROKER_CLIENT_SECRET: clientSecret = "" } = env;
const { PORT = "3000", APP_URL = `http://127.0.0.1:${PORT}`, GITHUB_API_URL = "https://api.github.com" } = env;
const broker = createBrokerClient({ issuer, clientId, clientSecret, redirectUri: `${APP_URL}/oauth/callback` });

// Your own store goes here. It encrypts: these are the users' real tokens.
const tokensOf = new Map<string, Tokens>();

declare module "express-session" {
  interface SessionData {
    user: string;
    /** Under way in several tabs, each with its PKCE verifier. Of two begun at the same moment one is lost. */
    flows: Flow[];
  }
}

const sessions = session({
  secret: env.SESSION_SECRET ?? randomBytes(32).toString("hex"),
  cookie: { httpOnly: true, sameSite: "lax", secure: APP_URL.startsWith("https:") },
  proxy: true, // For `secure`: TLS ends in front of this process.
  resave: false,
  saveUninitialized: false,
});
const app = express();
app.use(sessions);
// Browsers send Origin with every POST. SameSite alone lets in the forms of sibling domains.
app.use((req, res, next) => {
  if (req.method !== "POST" || req.get("origin") === APP_URL) return next();
  res.status(403).send(page(`This form is not from ${APP_URL}.`));
});

// Your own login goes here. It begins a new session: nothing planted in the old session stays.
app.post("/sign-in", express.urlencoded(), (req, res, next) => {
  req.session.regenerate((error) => {
    if (error) return next(error);
    req.session.user = String(req.body?.user ?? "");
    res.redirect(303, "/");
  });
});
app.use((req, res, next) => {
  if (req.session.user) return next();
  res.send(page(form("sign-in", `<input name="user" value="user">`)));
});

app.get("/", async (req, res) => {
  const { user = "" } = req.session;
  const tokens = tokensOf.get(user);
  const parts = tokens ? [await readAccount(tokens), form("refresh"), form("disconnect")] : [form("connect")];
  res.send(page(`Signed in as ${escape(user)}.`, ...parts));
});

app.post("/connect", async (req, res) => {
  const started = await broker.start({ vendor: "github", scope: "read:user" });
  req.session.flows = [...(req.session.flows ?? []), started.session].slice(-5);
  res.redirect(303, started.url);
});

app.get("/oauth/callback", async (req, res) => {
  const { user = "", flows = [] } = req.session;
  const flow = flows.find(({ state }) => state === req.query.state);
  req.session.flows = flows.filter((one) => one !== flow);
  tokensOf.set(user, await broker.finish(req.url, flow));
  res.redirect(303, "/");
});

app.post("/refresh", async (req, res) => {
  const { user = "" } = req.session;
  const { refreshToken, connection = "" } = tokensOf.get(user) ?? {};
  const refreshed = await broker.refresh({ refreshToken, connection });
  if (refreshed.outcome === "ok") tokensOf.set(user, refreshed.tokens);
  else if (refreshed.outcome === "reauthorize") tokensOf.delete(user);
  else throw refreshed.error;
  res.redirect(303, "/");
});

app.post("/disconnect", async (req, res) => {
  const { user = "" } = req.session;
  const tokens = tokensOf.get(user);
  if (tokens === undefined) return res.redirect(303, "/");
  const revoked = await broker.revoke({ token: tokens.accessToken, connection: tokens.connection });
  tokensOf.delete(user);
  res.send(page(revoked.outcome === "revoked" ? "Disconnected." : escape(revoked.help)));
});

async function readAccount({ accessToken }: Tokens): Promise<string> {
  const request = { headers: { authorization: `Bearer ${accessToken}` }, signal: AbortSignal.timeout(10_000) };
  const answer = await fetch(`${GITHUB_API_URL}/user`, request).catch(() => undefined);
  if (!answer?.ok) return `GitHub answers ${answer?.status ?? "nothing"}. Refresh, or disconnect and connect again.`;
  const { login } = (await answer.json()) as { login: string };
  return `Connected to GitHub as ${escape(login)}.`;
}

const ERRORS: Record<string, readonly [status: number, text: string]> = {
  access_denied: [403, "You cancelled at GitHub, so nothing was connected."],
  invalid_session: [400, "You did not begin this connection here, or it took too long. Connect again."],
  temporarily_unavailable: [503, "GitHub cannot be reached at the moment. Try again in a minute."],
};
app.use(((error, _req, res, next) => {
  if (!(error instanceof BrokerClientError)) return next(error);
  console.error(error);
  const [status, text] = ERRORS[error.code] ?? [502, "This did not work."];
  res.status(status).send(page(text));
}) satisfies ErrorRequestHandler);

const page = (...parts: string[]) => `<p>${parts.join("<p>")}<p><a href="/">Home</a>`;
const form = (to: string, fields = "") => `<form method="post" action="/${to}">${fields}<button>${to}</button></form>`;
const escape = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

createServer(app).listen(Number(PORT), "127.0.0.1", () => console.log(`Open ${APP_URL}`));
