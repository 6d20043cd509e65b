/**
 * A user with a browser, for tests without one: follows redirects, keeps cookies, signs in at the
 * sandbox's vendor, approves or cancels, and stops before it requests the URL the test is
 * interested in. It reads forms as a browser does, so it also passes the broker's own page if
 * several owners share a vendor client.
 */
import { createCookieJar, type CookieJar } from "./cookie-jar.ts";
import { parseForms, type Form, type Member } from "./html-forms.ts";
import type { AccountId } from "./pages.ts";
import { sendWithCookies } from "./visitor.ts";

export interface DriveConsentOptions {
  /** The account to sign in with; default `user`. */
  readonly account?: AccountId;
  /**
   * Default `approve`. `cancel` signs in and cancels on the vendor's consent page, `cancel-sign-in`
   * already on the sign-in page, `deny` declines on the broker's own page. A page without such a
   * button is approved.
   */
  readonly decision?: "approve" | "cancel" | "cancel-sign-in" | "deny";
  /** The browser's cookies; a fresh jar by default. */
  readonly cookieJar?: CookieJar;
  /**
   * Called before each request, the first included; the URL for which it is true is returned and
   * not requested.
   */
  readonly stopAt: (url: URL) => boolean;
  /** `fetch` by default. */
  readonly send?: (url: string, init: RequestInit) => Response | Promise<Response>;
}

interface Request {
  readonly url: URL;
  readonly form?: URLSearchParams;
}

const MAX_STEPS = 30;

/**
 * @param startUrl the first URL, e.g. the broker's `/v1/authorize?…`
 * @returns the first URL for which `stopAt` is true
 * @throws Error when a page answers 4xx or 5xx (its `cause` has `status`, `url` and `body`), has no
 *   form, or after 30 steps
 */
export async function driveConsent(startUrl: string | URL, options: DriveConsentOptions): Promise<URL> {
  const jar = options.cookieJar ?? createCookieJar();
  let request: Request = { url: new URL(startUrl) };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (options.stopAt(request.url)) return request.url;
    // One page after the other: each request depends on the previous response.
    // oxlint-disable-next-line no-await-in-loop
    const answer = await ask(request, jar, options.send);
    // oxlint-disable-next-line no-await-in-loop
    request = redirected(request, answer) ?? submit(request.url, await answer.text(), answer.status, options);
  }
  throw new Error(`No end after ${MAX_STEPS} steps, the last at ${place(request.url)}`);
}

function ask({ url, form }: Request, jar: CookieJar, send: DriveConsentOptions["send"] = fetch): Promise<Response> {
  const headers = { accept: "text/html" };
  return sendWithCookies(send, jar, url, form === undefined ? { headers } : { headers, method: "POST", body: form });
}

/** 307 and 308 repeat the form, everything else becomes a GET, as in a browser. */
function redirected(request: Request, answer: Response): Request | undefined {
  const location = answer.headers.get("Location");
  if (answer.status < 300 || answer.status > 399 || location === null) return undefined;
  const url = new URL(location, request.url);
  const repeats = (answer.status === 307 || answer.status === 308) && request.form !== undefined;
  return repeats ? { url, form: request.form } : { url };
}

function submit(url: URL, body: string, status: number, options: DriveConsentOptions): Request {
  if (status >= 400) {
    throw new Error(`${place(url)} answered ${status}`, { cause: { status, url: url.href, body } });
  }
  const form = parseForms(body)[0];
  if (form === undefined)
    throw new Error(`${place(url)} has no form to go on with`, { cause: { status, url: url.href, body } });
  const members = new URLSearchParams();
  for (const [name, value] of [...form.fields, ...pressedButton(form, options)]) members.append(name, value);
  const action = new URL(form.action, url);
  if (form.method === "post") return { url: action, form: members };
  action.search = members.toString();
  return { url: action };
}

function pressedButton({ buttons }: Form, options: DriveConsentOptions): readonly Member[] {
  const { account = "user", decision = "approve" } = options;
  const find = (name: string, value: string) => buttons.find((button) => button[0] === name && button[1] === value);
  const isSignIn = buttons.some(([name]) => name === "account");
  const wanted = isSignIn
    ? decision === "cancel-sign-in"
      ? find("decision", "cancel")
      : find("account", account)
    : (find("decision", decision) ?? find("decision", "approve"));
  const pressed = wanted ?? buttons[0];
  return pressed === undefined ? [] : [pressed];
}

/** A URL without its query, which may hold codes. */
function place(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
