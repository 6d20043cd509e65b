/**
 * A user's browser without scripts at a server with several vendors: it follows redirects, signs in
 * and agrees at the vendors, and presses the buttons of the server's own pages. What the server
 * sends it is kept.
 */
import { createCookieJar, driveConsent, type DriveConsentOptions, sendWithCookies } from "@oauth-broker/simulators";
import { parseForms } from "../../../packages/simulators/src/html-forms.ts";
import type { SeveralVendors, VendorName } from "./harness.ts";

/** Where a visit ended. */
export interface Shown {
  readonly url: URL;
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

export type VisitOptions = Partial<Pick<DriveConsentOptions, "account" | "decision">> & {
  /** The redirect that is not followed, and returned as the place: a client's. */
  readonly stopAt?: (url: URL) => boolean;
};

const MOST_STEPS = 16;

/** Whether a page is the one for a browser that is not signed in. */
export function asksToSignIn(page: string): boolean {
  return page.includes('name="action" value="sign_in"');
}

/** @param options.account at each vendor if a visit names no other */
export type TextBrowser = ReturnType<typeof openTextBrowser>;
export function openTextBrowser(
  harness: Pick<SeveralVendors, "url" | "seen" | "keep">,
  name: string,
  { account = "user" }: Pick<VisitOptions, "account"> = {},
) {
  const jar = createCookieJar();
  const isOurs = (url: URL): boolean => url.origin === harness.url;
  const request = async (place: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(place, harness.url);
    const answer = await sendWithCookies((at, how) => fetch(at, how), jar, url, init);
    return harness.keep(name, init.method ?? "GET", answer);
  };
  const locationOf = (answer: Response, from: URL): URL => new URL(answer.headers.get("location") ?? "none:", from);
  const follow = async (first: Response, from: URL, { stopAt, ...options }: VisitOptions): Promise<Shown> => {
    let [answer, url] = [first, from];
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const { status, headers } = answer;
      // oxlint-disable no-await-in-loop -- one page after the other
      if (status < 300 || status > 399) return { url, status, html: await answer.text(), headers };
      url = locationOf(answer, url);
      if (stopAt?.(url) === true) return { url, status, html: "", headers };
      if (!isOurs(url)) url = await driveConsent(url, { account, cookieJar: jar, stopAt: isOurs, ...options });
      answer = await request(url);
      // oxlint-enable no-await-in-loop
    }
    throw new Error(`The visit of ${name} does not end`);
  };
  const send = async (shown: Shown, button: string, vendor?: VendorName): Promise<Response> => {
    const { action, fields } = formWith(shown.html, button, vendor);
    return request(new URL(action, shown.url), { method: "POST", body: new URLSearchParams(fields) });
  };
  type Pressed = VisitOptions & { readonly vendor?: VendorName };
  const press = async (shown: Shown, button: string, { vendor, ...options }: Pressed = {}): Promise<Shown> =>
    follow(await send(shown, button, vendor), shown.url, options);
  const open = async (place: string | URL, options: VisitOptions = {}): Promise<Shown> => {
    const url = new URL(place, harness.url);
    const shown = await follow(await request(url), url, options);
    return asksToSignIn(shown.html) ? press(shown, "sign_in", options) : shown;
  };
  return {
    name,
    jar,
    /** A request of the browser, which follows nothing. */
    request,
    /** Follows redirects, and signs in if asked to. @param place a path of the server, or a URL of it */
    open,
    /** Presses a button of a page without following: the server's response. @param vendor whose button it is */
    send,
    /** The same, and follows. */
    press,
    /** Opens a ticket and approves. */
    link: async (ticket: string | URL, options: VisitOptions = {}) =>
      press(await open(ticket, options), "approve", options),
    /** How often the server has signed this browser in. */
    signIns: () =>
      harness.seen.filter(
        (one) => one.by === name && one.headers.getSetCookie().some((cookie) => /^sign-in-[\w-]+=[\w-]/.test(cookie)),
      ).length,
  };
}

/** The form of a page that has this button, with the button pressed. */
function formWith(
  page: string,
  button: string,
  vendor: string | undefined,
): { readonly action: string; readonly fields: Readonly<Record<string, string>> } {
  for (const { action, fields, buttons } of parseForms(page)) {
    const pressed = buttons.find(([, value]) => value === button);
    const members = Object.fromEntries(pressed === undefined ? fields : [...fields, pressed]);
    if (pressed !== undefined && (vendor === undefined || members["vendor"] === vendor))
      return { action, fields: members };
  }
  throw new Error(`The page has no button ${button}:\n${page}`);
}
