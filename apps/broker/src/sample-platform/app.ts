/**
 * The other side of the broker in the sandbox: a tiny platform with one button per vendor, around
 * broker-client as an MCP backend has it. Loaded by sandbox.ts alone.
 * Flow: POST /connect → POST /v1/par → GET /v1/authorize → vendor → broker →
 * GET /oauth/vendor-callback → POST /v1/token.
 */
import { type Clock, type Fetch, systemClock } from "@oauth-broker/oauth-core";
import { isFormToken, isOwnHost } from "@oauth-broker/oauth-core/server";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { isPrefetch, listen, type Listening } from "@oauth-broker/service";
import { PAGE_HEADERS, type VendorOffer } from "@oauth-broker/simulators";
import { type Context, Hono } from "hono";
import { createFlows } from "./flows.ts";
import { orderLegs } from "./legs.ts";
import { renderHome, renderRefusal, type ShownVendor } from "./page.ts";
import { describeProblem } from "./problem.ts";
import { type AtVendor, atVendor, createSessions, type Leg, type Session, takePending } from "./sessions.ts";

export interface SamplePlatformOptions {
  /** The broker's `base_url`; asked for its metadata at the first Connect, not before. */
  readonly brokerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * In the page's order. Asked at each page: a vendor may start after the platform, whose address
   * it requires.
   */
  readonly vendors: () => readonly VendorOffer[];
  /** The broker's legs of a flow, from its record; the platform itself cannot see them. */
  readonly timeline: (flowId: string) => Promise<readonly Leg[]>;
}

export interface SamplePlatform {
  /** What to open. */
  readonly url: string;
  /** To be on the client's exact list at the broker. */
  readonly redirectUri: string;
  close(): Promise<void>;
}

const CALLBACK_PATH = "/oauth/vendor-callback";
const TIMEOUT_MS = 15_000;

/** @param lastPort its port the last time; taken again if it is free */
export async function startSamplePlatform(options: SamplePlatformOptions, lastPort?: number): Promise<SamplePlatform> {
  const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: TIMEOUT_MS });
  const app = new Hono();
  const { port, stop } = await listenAt(app, lastPort);
  const url = `http://127.0.0.1:${port}`;
  app.route("/", createSamplePlatform(options, url, { fetch: egress.fetch, now: systemClock }));
  const close = async (): Promise<void> => {
    await stop(0);
    await egress.close();
  };
  return { url, redirectUri: `${url}${CALLBACK_PATH}`, close };
}

/** Another program may have taken the port in the meantime: then any free one. */
async function listenAt(app: Hono, port: number | undefined): Promise<Listening> {
  const host = "127.0.0.1";
  return listen(app, { host, port: port ?? 0 }).catch(() => listen(app, { host, port: 0 }));
}

/** @param url the platform's own, without trailing slash */
export function createSamplePlatform(
  { brokerUrl: issuer, clientId, clientSecret, vendors, timeline }: SamplePlatformOptions,
  url: string,
  { fetch, now }: { readonly fetch: Fetch; readonly now: Clock },
): Hono {
  const flows = createFlows({ issuer, clientId, clientSecret, redirectUri: `${url}${CALLBACK_PATH}`, fetch, now });
  // Browsers do not keep the cookies of two ports apart, so the name does.
  const sessions = createSessions(`platform-${new URL(url).port}-session`, now);
  const app = new Hono();

  const current = (c: Context): Session | undefined => sessions.find(c.req.header("cookie"));

  app.use(async (c, next) =>
    isOwnHost(c.req.url, url) ? next() : refuse(c, 403, "Not found here", `Open ${url} instead.`),
  );

  // The vendor's answer can be taken once, by the user's own request.
  app.use(async (c, next) =>
    c.req.method === "GET" && isPrefetch((name) => c.req.header(name))
      ? refuse(c, 403, "Not opened yet", "Open this page yourself.")
      : next(),
  );

  app.get("/", async (c) => {
    const session = current(c) ?? begin(c);
    const view = { session, offers: vendors(), shown: await shownVendor(session) };
    return c.body(await renderHome(view), 200, PAGE_HEADERS);
  });

  app.get(CALLBACK_PATH, async (c) => {
    const session = current(c);
    const callback = new URL(c.req.url);
    const pending = session && takePending(session, callback.searchParams.get("state") ?? "");
    if (session === undefined || pending === undefined) {
      return refuse(
        c,
        400,
        "This answer is not for this browser",
        "It was already used, has expired, or was begun elsewhere. Nothing was done with it.",
      );
    }
    await flows.finish(session, callback, pending);
    return c.redirect("/", 303);
  });

  onPost("/connect", async (session, form) => {
    const offer = vendors().find(({ id }) => id === form["vendor"]);
    if (offer === undefined) return "/";
    const next = await flows.start(session, offer, form);
    delete session.notice;
    return next;
  });

  onPost("/show", async (session, form) => {
    if (connectionOf(session, form) !== undefined) delete session.notice;
    return "/";
  });

  onPost("/refresh", async (session, form) => {
    const connection = connectionOf(session, form);
    if (connection?.tokens !== undefined) session.notice = await flows.refresh(connection, connection.tokens);
    return "/";
  });

  onPost("/revoke", async (session, form) => {
    const connection = connectionOf(session, form);
    const which = form["token"] === "refresh_token" ? "refresh_token" : "access_token";
    if (connection?.tokens !== undefined) session.notice = await flows.revoke(connection, connection.tokens, which);
    return "/";
  });

  onPost("/start-over", async (session, _form, c) => {
    c.header("set-cookie", sessions.end(session).setCookie);
    return "/";
  });

  function begin(c: Context): Session {
    const { session, setCookie } = sessions.create();
    c.header("set-cookie", setCookie);
    return session;
  }

  async function shownVendor(session: Session): Promise<ShownVendor | undefined> {
    const offer = vendors().find(({ id }) => id === session.shown);
    if (offer === undefined) return undefined;
    const connection = atVendor(session, offer.id);
    const flowId = connection.flow?.flowId;
    const legs = flowId === undefined ? [] : await timeline(flowId).catch(() => []);
    return { ...connection, offer, legs: orderLegs(connection.flow?.legs ?? [], legs) };
  }

  /**
   * One button: only for a form that was shown to this browser. What fails becomes the page's
   * notice.
   *
   * @param run @returns the next URL for the browser
   */
  function onPost(
    path: string,
    run: (session: Session, form: Readonly<Record<string, unknown>>, c: Context) => Promise<string>,
  ): void {
    app.post(path, async (c) => {
      const session = current(c);
      const form = await c.req.parseBody();
      const { csrf } = form;
      if (session === undefined || typeof csrf !== "string" || !isFormToken(csrf, path, session.cookie)) {
        return refuse(c, 403, "This page is too old", "Its session has ended. Go back to the start and try again.");
      }
      try {
        return c.redirect(await run(session, form, c), 303);
      } catch (error) {
        session.notice = { kind: "problem", problem: describeProblem(error) };
        return c.redirect("/", 303);
      }
    });
  }

  return app;
}

/**
 * What the form is about; the page is about it from then on.
 *
 * @returns undefined when nothing was connected there
 */
function connectionOf(session: Session, form: Readonly<Record<string, unknown>>): AtVendor | undefined {
  const id = typeof form["vendor"] === "string" ? form["vendor"] : "";
  const known = session.vendors.get(id);
  if (known !== undefined) session.shown = id;
  return known;
}

async function refuse(c: Context, status: 400 | 403, title: string, text: string): Promise<Response> {
  return c.body(await renderRefusal(title, text), status, PAGE_HEADERS);
}
