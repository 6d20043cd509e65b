/** A browser without scripts: it keeps cookies, follows no redirects, and sends forms with their token. */
import { createCookieJar, type CookieJar } from "./cookie-jar.ts";

/**
 * One request with the browser's cookies; it keeps those of the response.
 *
 * @param send `fetch`, or an app in this process
 */
export async function sendWithCookies<Answer extends { readonly headers: Headers }>(
  send: (url: string, init: RequestInit) => Answer | Promise<Answer>,
  jar: CookieJar,
  url: URL,
  init: RequestInit = {},
): Promise<Answer> {
  const cookie = jar.header(url);
  const headers = { ...(init.headers as Record<string, string>), ...(cookie === undefined ? {} : { cookie }) };
  const answer = await send(url.href, { redirect: "manual", ...init, headers });
  jar.store(url, answer.headers.getSetCookie());
  return answer;
}

export type Visitor = ReturnType<typeof createVisitor>;

export interface VisitorOptions {
  /** The cookies of a browser that visits other sites too; a fresh one by default. */
  readonly jar?: CookieJar;
  /** The site as an app in this process; `fetch` by default. */
  readonly send?: (url: string, init: RequestInit) => Response | Promise<Response>;
}

/** @param site its origin: paths are relative to it */
export function createVisitor(site: string, { jar = createCookieJar(), send = fetch }: VisitorOptions = {}) {
  const request = (path: string, init?: RequestInit): Promise<Response> =>
    sendWithCookies(send, jar, new URL(path, site), init);
  const post = (path: string, fields: Readonly<Record<string, string>>): Promise<Response> =>
    request(path, { method: "POST", body: new URLSearchParams({ ...fields }) });
  return {
    jar,
    get: (path: string): Promise<Response> => request(path),
    post,
    /** Opens the page, reads the token of the form from it, and sends the form. */
    submit: async (page: string, path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> => {
      const html = await (await request(page)).text();
      const token = new RegExp(`action="${path}">\\s*<input type="hidden" name="csrf" value="([^"]+)"`).exec(html)?.[1];
      return post(path, { csrf: token ?? "", ...fields });
    },
  };
}
