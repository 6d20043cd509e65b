/**
 * A browser without scripts at the pages of a server with several vendors: it follows redirects, signs
 * in and agrees at the vendors, and presses the buttons of our pages.
 */
import {
  type CookieJar,
  createCookieJar,
  driveConsent,
  type DriveConsentOptions,
  sendWithCookies,
} from "@oauth-broker/simulators";
import { parseForms } from "../../../../simulators/src/html-forms.ts";
import type { Ticket } from "../../mode.ts";
import { form, type RequestParameters } from "../hosted-fixture.ts";

export interface LinkingVisitor {
  readonly jar: CookieJar;
  /** @param path or our whole URL */
  get(path: string | URL, headers?: Record<string, string>): Promise<Response>;
  post(path: string, fields: RequestParameters, headers?: Record<string, string>): Promise<Response>;
  /**
   * Follows redirects, at our pages and at the vendors', at which it acts as `options` says, and
   * signs in when the page asks for it.
   */
  open(path: string | URL, options?: VisitOptions): Promise<Shown>;
  /** Presses a button of the page: `value` of `decision` or `action`. */
  press(shown: Shown, button: string, options?: VisitOptions & { readonly vendor?: string }): Promise<Shown>;
  /** From the connections, of which `options` says who signs in: the redirect to the vendor that is connected. */
  beginLink(vendor: string, options?: VisitOptions): Promise<Response>;
  /** From the page that asks for it: the redirect to the sign-in vendor. */
  beginSignIn(): Promise<Response>;
  /** The same without following: our own answer. */
  send(shown: Shown, button: string, vendor?: string): Promise<Response>;
  /** At a vendor, up to our callback, which is not requested. */
  atVendor(answer: Response, options?: VisitOptions): Promise<URL>;
  /** Opens the ticket, signs in and approves. */
  link(ticket: Pick<Ticket, "url">, options?: VisitOptions): Promise<Shown>;
}

export type VisitOptions = Partial<Pick<DriveConsentOptions, "account" | "decision" | "cookieJar">> & {
  /** The redirect that ends the visit, because it is a client's, and is not followed. */
  readonly stopAt?: (url: URL) => boolean;
};

/** Where a visit ended. */
export interface Shown {
  readonly url: URL;
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

const SIGN_IN_BUTTON = /<button[^>]* name="action" value="sign_in"/;
const MOST_STEPS = 16;

/** Whether an answer of `/connections` is the page for a browser that is not signed in. */
export async function asksToSignIn(answer: Response): Promise<boolean> {
  return answer.status === 200 && SIGN_IN_BUTTON.test(await answer.text());
}

/**
 * @param site our origin
 * @param request sends to it
 * @param usual of every visit that says nothing else
 */
export function openVisitor(
  site: string,
  request: (url: string, init: RequestInit) => Promise<Response>,
  usual: Pick<VisitOptions, "account"> = {},
): LinkingVisitor {
  const jar = createCookieJar();
  const send = (url: URL, init?: RequestInit) => sendWithCookies(request, jar, url, init);
  const isOurs = (url: URL): boolean => url.href.startsWith(site);
  const locationOf = (answer: Response): URL => new URL(answer.headers.get("location") ?? "none:", site);
  const consent = (url: URL, options: VisitOptions): Promise<URL> =>
    driveConsent(url, { cookieJar: jar, ...usual, ...options, stopAt: isOurs });

  const follow = async (first: Response, from: URL, options: VisitOptions): Promise<Shown> => {
    let [answer, url] = [first, from];
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const { status, headers } = answer;
      if (status < 300 || status > 399) return { url, status, html: await answer.text(), headers };
      url = locationOf(answer);
      if (options.stopAt?.(url) === true) return { url, status, html: "", headers };
      if (!isOurs(url)) url = await consent(url, options);
      answer = await send(url);
    }
    throw new Error("the visit does not end");
  };
  const visitor: LinkingVisitor = {
    jar,
    get: (path, headers = {}) => send(new URL(path, site), { headers }),
    post: (path, fields, headers = {}) => send(new URL(path, site), { method: "POST", body: form(fields), headers }),
    open: async (path, options = {}) => {
      const shown = await follow(await visitor.get(path), new URL(path, site), options);
      return SIGN_IN_BUTTON.test(shown.html) ? visitor.press(shown, "sign_in", options) : shown;
    },
    beginLink: async (vendor, options) => visitor.send(await visitor.open("/connections", options), "connect", vendor),
    beginSignIn: async () => {
      const answer = await visitor.get("/connections");
      const { status, headers } = answer;
      const shown = { url: new URL("/connections", site), status, html: await answer.text(), headers };
      return visitor.send(shown, "sign_in");
    },
    send: async ({ html, url }, button, vendor) => {
      const found = parseForms(html).find(
        ({ buttons, fields }) =>
          buttons.some(([, value]) => value === button) &&
          (vendor === undefined || fields.some(([name, value]) => name === "vendor" && value === vendor)),
      );
      const pressed = found?.buttons.find(([, value]) => value === button);
      if (found === undefined || pressed === undefined) throw new Error(`no button ${button} on the page:\n${html}`);
      const fields = Object.fromEntries([...found.fields, pressed]);
      return visitor.post(new URL(found.action, url).pathname, fields);
    },
    press: async (shown, button, { vendor, ...options } = {}) =>
      follow(await visitor.send(shown, button, vendor), shown.url, options),
    atVendor: (answer, options = {}) => consent(locationOf(answer), options),
    link: async ({ url }, options = {}) => visitor.press(await visitor.open(url), "approve", options),
  };
  return visitor;
}
