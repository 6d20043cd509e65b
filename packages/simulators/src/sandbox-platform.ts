/**
 * The other side of the broker in the sandbox: a tiny platform with one button. It does what an MCP backend has to do:
 * push the request, keep state and PKCE verifier in the user's own session, check what comes back, redeem, refresh, revoke.
 * Flow: POST /connect → POST /v1/par → GET /v1/authorize → vendor → broker → GET /oauth/vendor-callback → POST /v1/token.
 */
import { getRequestListener } from "@hono/node-server";
import { Hono, type Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { machineClock, type Clock } from "./clock.ts";
import { PAGE_HEADERS } from "./layout.ts";
import { listen } from "./listen.ts";
import { createBrokerClient, type BrokerClient } from "./platform/broker-client.ts";
import { orderLegs } from "./platform/legs.ts";
import { renderHome, renderRefusal } from "./platform/page.ts";
import { describeProblem } from "./platform/problem.ts";
import { createSessions, isOwnForm, rememberPushed, takePushed, type Leg, type Session } from "./platform/sessions.ts";

export interface SandboxPlatformOptions {
  /** The broker's `base_url`; asked for its metadata at the first Connect, not before. */
  readonly brokerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The vendor's id at the broker. */
  readonly vendor: string;
  readonly scope: string;
  /** Default 0: a free one. */
  readonly port?: number;
  /** Sent to the vendor; the default makes it show both its pages each time. */
  readonly prompt?: string;
  /** The broker's legs of a flow, from its record; the platform itself cannot see them. */
  readonly timeline?: (flowId: string) => Promise<readonly Leg[]>;
  readonly now?: Clock;
}

export interface SandboxPlatform {
  /** What to open. */
  readonly url: string;
  /** To be on the client's exact list at the broker. */
  readonly redirectUri: string;
  close(): Promise<void>;
}

const CALLBACK_PATH = "/oauth/vendor-callback";

/** @throws Error when the port is taken */
export async function startSandboxPlatform(options: SandboxPlatformOptions): Promise<SandboxPlatform> {
  const listening = await listen(options.port ?? 0);
  const { server, url } = listening;
  const app = createSandboxPlatform(options, url);
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  server.on("request", (request, response) => void answer(request, response));
  return { url, redirectUri: `${url}${CALLBACK_PATH}`, close: () => listening.close() };
}

/** @param url where the platform is reached, `http://127.0.0.1:PORT` */
function createSandboxPlatform(options: SandboxPlatformOptions, url: string): Hono {
  const { vendor, scope, prompt = "login consent", timeline, now = machineClock } = options;
  const broker = createBrokerClient({ ...options, redirectUri: `${url}${CALLBACK_PATH}` });
  const sessions = createSessions();
  // Browsers do not keep the cookies of two ports apart, so the name does.
  const cookieName = `platform-${new URL(url).port}-session`;
  const app = new Hono();

  const current = (c: Context): Session | undefined => sessions.find(getCookie(c, cookieName));

  // A foreign name that resolves to this machine must not read the page.
  app.use(async (c, next) =>
    new URL(c.req.url).origin === url ? next() : refuse(c, 403, "Not found here", `Open ${url} instead.`),
  );

  app.get("/", async (c) => {
    const session = current(c) ?? begin(c);
    const flowId = session.flow?.flowId;
    const legs = flowId === undefined || timeline === undefined ? [] : await timeline(flowId).catch(() => []);
    return c.body(
      await renderHome({ session, vendor, legs: orderLegs(session.flow?.legs ?? [], legs) }),
      200,
      PAGE_HEADERS,
    );
  });

  app.get(CALLBACK_PATH, async (c) => {
    const session = current(c);
    const callback = new URL(c.req.url);
    const found = takePushed(session, callback.searchParams.get("state"));
    if (session === undefined || found === undefined) {
      return refuse(
        c,
        400,
        "This answer is not for this browser",
        "It was already used, has expired, or was begun elsewhere. Nothing was done with it.",
      );
    }
    await finish(session, callback, found, broker, now);
    return c.redirect("/", 303);
  });

  app.post("/connect", (c) =>
    act(c, async (session) => {
      const at = now();
      const { url: next, pushed } = await broker.push({ vendor, scope, prompt });
      rememberPushed(session, pushed, at);
      delete session.notice;
      return c.redirect(next, 303);
    }),
  );

  app.post("/refresh", (c) =>
    act(c, async (session) => {
      const before = session.tokens;
      if (before === undefined) return c.redirect("/", 303);
      session.tokens = await broker.refresh(before);
      const isRotated = session.tokens.refreshToken !== before.refreshToken;
      session.notice = {
        kind: "done",
        text: `Refreshed: a new access token arrived${isRotated ? ", and the vendor rotated the refresh token" : ""}.`,
      };
      return c.redirect("/", 303);
    }),
  );

  app.post("/revoke", (c) =>
    act(c, async (session, form) => {
      if (session.tokens === undefined) return c.redirect("/", 303);
      const which = form["token"] === "refresh_token" ? "refresh_token" : "access_token";
      const revoked = await broker.revoke(session.tokens, which);
      session.isRevoked = true;
      session.notice = {
        kind: "done",
        text: `Revoked at the vendor (${revoked}). Try Refresh now: the vendor will refuse it.`,
      };
      return c.redirect("/", 303);
    }),
  );

  app.post("/start-over", (c) =>
    act(c, async () => {
      sessions.end(getCookie(c, cookieName));
      deleteCookie(c, cookieName, { path: "/" });
      return c.redirect("/", 303);
    }),
  );

  function begin(c: Context): Session {
    const { id, session } = sessions.create();
    setCookie(c, cookieName, id, { path: "/", httpOnly: true, sameSite: "Lax" });
    return session;
  }

  /** Runs one button: only for a form of this session; what fails becomes the page's notice. */
  async function act(
    c: Context,
    run: (session: Session, form: Readonly<Record<string, unknown>>) => Promise<Response>,
  ): Promise<Response> {
    const session = current(c);
    const form = await c.req.parseBody();
    if (session === undefined || !isOwnForm(session, form["csrf"])) {
      return refuse(c, 403, "This page is too old", "Its session has ended. Go back to the start and try again.");
    }
    try {
      return await run(session, form);
    } catch (error) {
      session.notice = { kind: "problem", problem: await describeProblem(error) };
      return c.redirect("/", 303);
    }
  }

  return app;
}

/** The browser is back: checks, then the code for the tokens. Notes each leg that was reached. */
async function finish(
  session: Session,
  callback: URL,
  { pushed, at }: NonNullable<ReturnType<typeof takePushed>>,
  broker: BrokerClient,
  now: Clock,
): Promise<void> {
  const flowId = callback.searchParams.get("flow_id");
  const asked = {
    leg: "asked",
    at,
    checks: [
      "state and PKCE verifier wait in this browser's own session",
      "request pushed by the backend, not carried by the browser",
    ],
  };
  const returned = { leg: "returned", at: now(), checks: ["state belongs to this browser's session, used once"] };
  const legs: Leg[] = [asked, returned];
  session.flow = { legs, ...(flowId === null ? {} : { flowId }) };
  delete session.notice;
  try {
    const parameters = await broker.readCallback(callback, pushed);
    returned.checks.push("iss is the broker");
    session.tokens = await broker.redeem(parameters, pushed);
    session.isRevoked = false;
    legs.push({
      leg: "received",
      at: now(),
      checks: [
        "code redeemed with the PKCE verifier of this session",
        "the answer is a well-formed token response",
        // The broker hands an ID token on only after that (design §4).
        ...(session.tokens.idTokenClaims === undefined
          ? []
          : ["ID token verified by the broker: signature, issuer, audience, nonce"]),
      ],
    });
  } catch (error) {
    session.notice = { kind: "problem", problem: await describeProblem(error) };
  }
}

async function refuse(c: Context, status: 400 | 403, title: string, text: string): Promise<Response> {
  return c.body(await renderRefusal(title, text), status, PAGE_HEADERS);
}
