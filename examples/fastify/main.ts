// A platform's backend on Fastify. Its users connect their GitHub accounts through the broker, and
// it calls GitHub with their tokens. README.md says how to start it.
import { randomBytes } from "node:crypto";
import cookie from "@fastify/cookie";
import formbody from "@fastify/formbody";
import session from "@fastify/session";
import { BrokerClientError, createBrokerClient, type Session as Flow, type Tokens } from "@oauth-broker/broker-client";
import fastify, { type FastifyReply } from "fastify";

const { env } = process;
const missing = ["BROKER_URL", "BROKER_CLIENT_ID", "BROKER_CLIENT_SECRET"].filter((name) => !env[name]);
if (missing.length > 0) throw new Error(`Set ${missing.join(", ")}: README.md says where they come from`);
const { BROKER_URL: issuer = "", BROKER_CLIENT_ID: clientId = "", BROKER_CLIENT_SECRET: clientSecret = "" } = env;
const { PORT = "3000", APP_URL = `http://127.0.0.1:${PORT}`, GITHUB_API_URL = "https://api.github.com" } = env;
const broker = createBrokerClient({ issuer, clientId, clientSecret, redirectUri: `${APP_URL}/oauth/callback` });

// Your own store goes here. It encrypts: these are the users' real tokens.
const tokensOf = new Map<string, Tokens>();

declare module "fastify" {
  interface Session {
    user?: string;
    /** Under way in several tabs, each with its PKCE verifier. Of two begun at the same moment one is lost. */
    flows?: Flow[];
  }
}

const app = fastify({ trustProxy: "loopback" });
await app.register(formbody);
await app.register(cookie);
await app.register(session, {
  secret: env.SESSION_SECRET ?? randomBytes(32).toString("hex"),
  cookie: { httpOnly: true, sameSite: "lax", secure: APP_URL.startsWith("https:") },
  saveUninitialized: false,
});
// Browsers send Origin with every POST. SameSite alone lets in the forms of sibling domains.
app.addHook("onRequest", async ({ method, headers }, reply) => {
  if (method === "POST" && headers.origin !== APP_URL)
    return show(reply.code(403), `This form is not from ${APP_URL}.`);
});

const ERRORS: Record<string, readonly [status: number, text: string]> = {
  access_denied: [403, "You cancelled at GitHub, so nothing was connected."],
  invalid_session: [400, "You did not begin this connection here, or it took too long. Connect again."],
  temporarily_unavailable: [503, "GitHub cannot be reached at the moment. Try again in a minute."],
};
app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof BrokerClientError)) throw error;
  console.error(error);
  const [status, text] = ERRORS[error.code] ?? [502, "This did not work."];
  return show(reply.code(status), text);
});

// Your own login goes here. It begins a new session: nothing planted in the old session stays.
app.post<{ Body: { user: string } }>("/sign-in", async (request, reply) => {
  await request.session.regenerate();
  request.session.user = String(request.body?.user ?? "");
  return reply.redirect("/", 303);
});

await app.register(async (signedIn) => {
  signedIn.addHook("preHandler", async (request, reply) => {
    if (!request.session.user) return show(reply, form("sign-in", `<input name="user" value="user">`));
  });

  signedIn.get("/", async ({ session: { user = "" } }, reply) => {
    const tokens = tokensOf.get(user);
    const parts = tokens ? [await readAccount(tokens), form("refresh"), form("disconnect")] : [form("connect")];
    return show(reply, `Signed in as ${escape(user)}.`, ...parts);
  });

  signedIn.post("/connect", async (request, reply) => {
    const started = await broker.start({ vendor: "github", scope: "read:user" });
    request.session.flows = [...(request.session.flows ?? []), started.session].slice(-5);
    return reply.redirect(started.url, 303);
  });

  signedIn.get<{ Querystring: { state?: string } }>("/oauth/callback", async (request, reply) => {
    const { user = "", flows = [] } = request.session;
    const flow = flows.find(({ state }) => state === request.query.state);
    request.session.flows = flows.filter((one) => one !== flow);
    tokensOf.set(user, await broker.finish(request.url, flow));
    return reply.redirect("/", 303);
  });

  signedIn.post("/refresh", async ({ session: { user = "" } }, reply) => {
    const { refreshToken, connection = "" } = tokensOf.get(user) ?? {};
    const refreshed = await broker.refresh({ refreshToken, connection });
    if (refreshed.outcome === "ok") tokensOf.set(user, refreshed.tokens);
    else if (refreshed.outcome === "reauthorize") tokensOf.delete(user);
    else throw refreshed.error;
    return reply.redirect("/", 303);
  });

  signedIn.post("/disconnect", async ({ session: { user = "" } }, reply) => {
    const tokens = tokensOf.get(user);
    if (tokens === undefined) return reply.redirect("/", 303);
    const revoked = await broker.revoke({ token: tokens.accessToken, connection: tokens.connection });
    tokensOf.delete(user);
    return show(reply, revoked.outcome === "revoked" ? "Disconnected." : escape(revoked.help));
  });
});

async function readAccount({ accessToken }: Tokens): Promise<string> {
  const request = { headers: { authorization: `Bearer ${accessToken}` }, signal: AbortSignal.timeout(10_000) };
  const answer = await fetch(`${GITHUB_API_URL}/user`, request).catch(() => undefined);
  if (!answer?.ok) return `GitHub answers ${answer?.status ?? "nothing"}. Refresh, or disconnect and connect again.`;
  const { login } = (await answer.json()) as { login: string };
  return `Connected to GitHub as ${escape(login)}.`;
}

const show = (reply: FastifyReply, ...parts: string[]) =>
  reply.type("text/html").send(`<p>${parts.join("<p>")}<p><a href="/">Home</a>`);
const form = (action: string, fields = "") =>
  `<form method="post" action="/${action}">${fields}<button>${action}</button></form>`;
const escape = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

await app.listen({ port: Number(PORT), host: "127.0.0.1" });
console.log(`Open ${APP_URL}`);
