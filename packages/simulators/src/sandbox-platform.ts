/**
 * The other side of the broker in the sandbox: a tiny platform with one button per vendor. It does what an MCP backend has to do:
 * push the request, keep state and PKCE verifier in the user's own session, check what comes back, redeem, refresh, revoke.
 * Flow: POST /connect → POST /v1/par → GET /v1/authorize → vendor → broker → GET /oauth/vendor-callback → POST /v1/token.
 */
import { getRequestListener } from "@hono/node-server";
import { Hono, type Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { machineClock, type Clock } from "./clock.ts";
import { PAGE_HEADERS } from "./layout.ts";
import { listen } from "./listen.ts";
import { createBrokerClient, type RevocableToken } from "./platform/broker-client.ts";
import type { ShownVendor } from "./platform/connection.ts";
import { finish } from "./platform/finish.ts";
import { orderLegs } from "./platform/legs.ts";
import { requestFor, type VendorOffer } from "./platform/offer.ts";
import { renderHome, renderRefusal } from "./platform/page.ts";
import { describeProblem } from "./platform/problem.ts";
import {
  atVendor,
  createSessions,
  isOwnForm,
  rememberPushed,
  takePushed,
  type AtVendor,
  type Leg,
  type Session,
} from "./platform/sessions.ts";

export interface SandboxPlatformOptions {
  /** The broker's `base_url`; asked for its metadata at the first Connect, not before. */
  readonly brokerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What can be connected, in the page's order. Asked at each page: a vendor may start after the platform, whose address it wants. */
  readonly vendors: () => readonly VendorOffer[];
  /** Default 0: a free one. */
  readonly port?: number;
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
  const { vendors, timeline, now = machineClock } = options;
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
    const view = { session, offers: vendors(), shown: await shownVendor(session) };
    return c.body(await renderHome(view), 200, PAGE_HEADERS);
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
    await finish(session, callback, found, { broker, now });
    return c.redirect("/", 303);
  });

  app.post("/connect", (c) =>
    act(c, async (session, form) => {
      const offer = vendors().find(({ id }) => id === form["vendor"]);
      if (offer === undefined) return c.redirect("/", 303);
      const at = now();
      const { url: next, pushed } = await broker.push(requestFor(offer, form));
      rememberPushed(session, { vendor: offer.id, pushed, at });
      delete session.notice;
      return c.redirect(next, 303);
    }),
  );

  app.post("/show", (c) =>
    act(c, async (session, form) => {
      if (connectionOf(session, form) !== undefined) delete session.notice;
      return c.redirect("/", 303);
    }),
  );

  app.post("/refresh", (c) =>
    act(c, async (session, form) => {
      const connection = connectionOf(session, form);
      if (connection?.tokens === undefined) return c.redirect("/", 303);
      const before = connection.tokens;
      connection.tokens = await broker.refresh(before);
      const isRotated = connection.tokens.refreshToken !== before.refreshToken;
      session.notice = {
        kind: "done",
        text: `Refreshed: a new access token arrived${isRotated ? ", and the vendor rotated the refresh token" : ""}.`,
      };
      return c.redirect("/", 303);
    }),
  );

  app.post("/revoke", (c) =>
    act(c, async (session, form) => {
      const connection = connectionOf(session, form);
      if (connection?.tokens === undefined) return c.redirect("/", 303);
      const which = form["token"] === "refresh_token" ? "refresh_token" : "access_token";
      const revoked = await broker.revoke(connection.tokens, which);
      connection.isRevoked = true;
      session.notice = { kind: "done", text: revokedText(which, revoked) };
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

  async function shownVendor(session: Session): Promise<ShownVendor | undefined> {
    const offer = vendors().find(({ id }) => id === session.shown);
    if (offer === undefined) return undefined;
    const connection = atVendor(session, offer.id);
    const flowId = connection.flow?.flowId;
    const legs = flowId === undefined || timeline === undefined ? [] : await timeline(flowId).catch(() => []);
    return { ...connection, offer, legs: orderLegs(connection.flow?.legs ?? [], legs) };
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

/** What the form is about; the page is about it from then on. @returns undefined when nothing was connected there */
function connectionOf(session: Session, form: Readonly<Record<string, unknown>>): AtVendor | undefined {
  const id = typeof form["vendor"] === "string" ? form["vendor"] : "";
  const known = session.vendors.get(id);
  if (known !== undefined) session.shown = id;
  return known;
}

/** @param revoked what the broker says was ended */
function revokedText(which: RevocableToken, revoked: string): string {
  const next =
    which === "refresh_token" || revoked === "grant"
      ? "Try Refresh now: the vendor will refuse it."
      : "At some vendors the refresh token lives on: try Refresh now.";
  return `Revoked at the vendor (${revoked}). ${next}`;
}

async function refuse(c: Context, status: 400 | 403, title: string, text: string): Promise<Response> {
  return c.body(await renderRefusal(title, text), status, PAGE_HEADERS);
}
