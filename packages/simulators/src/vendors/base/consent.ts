/**
 * The vendor's user: signs in once per browser, reads what an app requests, approves or cancels. A
 * vendor's authorization endpoint checks the request by its own rules, then calls `ask`; it decides
 * what happens on Allow and on Cancel.
 */
import { randomBytes } from "node:crypto";
import type { Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { PAGE_HEADERS, renderPage, type Markup } from "../../layout.ts";
import { ACCOUNTS, consentPage, noticePage, signInPage, wayBack, type Account, type Permission } from "../../pages.ts";
import type { VendorEnv } from "./simulator.ts";

/** Back to the app, or a page of the vendor that ends here. */
export type ConsentOutcome =
  | { readonly redirect: string }
  | { readonly page: Markup; readonly title: string; readonly status?: number };

export interface ConsentAsk {
  /** The app's name. */
  readonly app: string;
  readonly permissions: readonly Permission[];
  /**
   * More questions that the vendor asks, as inputs of the consent form; after sign-in, so they may
   * depend on the user.
   */
  readonly questions?: (user: Account) => Markup;
  /** True asks for the account even in a browser that is signed in. */
  readonly selectAccount?: boolean;
  /** True skips the consent page after sign-in, as for an app that was allowed before. */
  readonly isAllowedBefore?: (user: Account) => boolean;
  /**
   * @param form the consent form, with the answers to `questions`; empty when the page was skipped
   */
  readonly onAllow: (user: Account, form: URLSearchParams) => ConsentOutcome | Promise<ConsentOutcome>;
  /** @param user undefined when it was cancelled before sign-in */
  readonly onCancel: (user: Account | undefined) => ConsentOutcome | Promise<ConsentOutcome>;
}

const WELCOME = "It runs on this machine, so that connecting can be tried without an account. Start at the platform.";

export type Consent = ReturnType<typeof serveConsent>;

interface Asked {
  readonly ask: ConsentAsk;
  readonly browser: string;
  /** Whether this request still needs a signed-in user. */
  mustSelect: boolean;
}

/**
 * Serves `POST /simulator/sign-in`, `GET` and `POST /simulator/consent`, and at `/` a page that
 * describes the simulator.
 *
 * @param options.cookie its name; browsers do not separate the cookies of two ports, so the name
 *   must
 * @param options.homeUrl where users start: pages that end here link there
 */
export function serveConsent(
  app: Hono<VendorEnv>,
  brand: string,
  { cookie, homeUrl }: { readonly cookie: string; readonly homeUrl: string | undefined },
) {
  const open = new Map<string, Asked>();
  const signedIn = new Map<string, Account>();

  /** A page that ends here. */
  const renderEnding = (title: string, main: Markup): Promise<string> =>
    renderPage(brand, title, html`${main}${homeUrl === undefined ? "" : wayBack(homeUrl)}`);
  const renderRefusal = (text: string, code?: string): Promise<string> => {
    const title = "This request cannot be answered";
    return renderEnding(title, noticePage(title, text, code));
  };
  const show = async (c: Context<VendorEnv>, page: Promise<string>, status = 200): Promise<Response> =>
    c.body(await page, { status: status as 200, headers: PAGE_HEADERS });
  const refuse = (c: Context<VendorEnv>, text: string, code?: string, status = 400): Promise<Response> =>
    show(c, renderRefusal(text, code), status);
  const finish = async (
    c: Context<VendorEnv>,
    outcome: ConsentOutcome | Promise<ConsentOutcome>,
  ): Promise<Response> => {
    const end = await outcome;
    return "redirect" in end ? c.redirect(end.redirect, 302) : show(c, renderEnding(end.title, end.page), end.status);
  };
  const askFor = (c: Context<VendorEnv>, id: string, asked: Asked): Promise<Response> => {
    const { ask, browser, mustSelect } = asked;
    const user = signedIn.get(browser);
    const field = html`<input type="hidden" name="ask" value="${id}" />`;
    if (user === undefined || mustSelect) {
      const text = html`To go on to <strong>${ask.app}</strong>. Choose a sample account; there is no password.`;
      return show(
        c,
        renderPage(brand, "Sign in", signInPage(`Sign in to ${brand}`, text, "/simulator/sign-in", field)),
      );
    }
    if (ask.isAllowedBefore?.(user) === true) {
      open.delete(id);
      return finish(c, ask.onAllow(user, new URLSearchParams()));
    }
    const title = `Allow ${ask.app} to use your ${brand} account?`;
    const fields = html`${field}${ask.questions?.(user) ?? ""}`;
    const { permissions } = ask;
    const main = consentPage({ title, user, permissions, action: "/simulator/consent", fields });
    return show(c, renderPage(brand, "Allow access", main));
  };
  const askedHere = (c: Context<VendorEnv>, id: string): Asked | undefined => {
    const asked = open.get(id);
    return asked?.browser === getCookie(c, cookie) ? asked : undefined;
  };
  /** The question of this form, if this browser was asked it and has not answered yet. */
  const submitted = async (c: Context<VendorEnv>) => {
    const form = new URLSearchParams(await c.req.text());
    const id = form.get("ask") ?? "";
    const asked = askedHere(c, id);
    return asked === undefined ? undefined : { form, id, asked };
  };
  const stale = (c: Context<VendorEnv>) => refuse(c, "This page was answered before, or belongs to another browser.");

  app.get("/", (c) => show(c, renderEnding(brand, noticePage(`A practice copy of ${brand}`, WELCOME))));
  app.post("/simulator/sign-in", async (c) => {
    const answer = await submitted(c);
    if (answer === undefined) return stale(c);
    const { form, id, asked } = answer;
    if (form.get("decision") === "cancel") {
      open.delete(id);
      return finish(c, asked.ask.onCancel(undefined));
    }
    const user = ACCOUNTS.find((account) => account.id === form.get("account"));
    if (user !== undefined) {
      signedIn.set(asked.browser, user);
      asked.mustSelect = false;
    }
    // The response to a form is a redirect: otherwise Back would ask to send the form again.
    return c.redirect(`/simulator/consent?${new URLSearchParams({ ask: id }).toString()}`, 303);
  });
  app.get("/simulator/consent", (c) => {
    const id = c.req.query("ask") ?? "";
    const asked = askedHere(c, id);
    return asked === undefined ? stale(c) : askFor(c, id, asked);
  });
  app.post("/simulator/consent", async (c) => {
    const answer = await submitted(c);
    const user = answer === undefined ? undefined : signedIn.get(answer.asked.browser);
    if (answer === undefined || user === undefined) return stale(c);
    open.delete(answer.id);
    const { onAllow, onCancel } = answer.asked.ask;
    return finish(c, answer.form.get("decision") === "approve" ? onAllow(user, answer.form) : onCancel(user));
  });

  return {
    ask: async (c: Context<VendorEnv>, ask: ConsentAsk): Promise<Response> => {
      const known = getCookie(c, cookie);
      const browser = known ?? randomId();
      if (known === undefined) setCookie(c, cookie, browser, { httpOnly: true, sameSite: "Lax", path: "/" });
      const id = randomId();
      const asked = { ask, browser, mustSelect: ask.selectAccount === true };
      open.set(id, asked);
      return askFor(c, id, asked);
    },
    /** A page that says what is wrong with the request; never a redirect. */
    refuse,
    /** The same for a server that is no Hono app; send it with `PAGE_HEADERS`. */
    renderRefusal,
  };
}

function randomId(): string {
  return randomBytes(18).toString("base64url");
}
