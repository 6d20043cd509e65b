/** A user of the sample platform, without a browser: opens its pages and presses their buttons. */
import { createCookieJar, type CookieJar } from "../cookie-jar.ts";
import { parseForms } from "../html-forms.ts";

type Fields = Readonly<Record<string, string>>;

export interface PlatformVisitor {
  readonly cookieJar: CookieJar;
  /** @param form sent by POST; without it the page is opened */
  request(path: string, form?: Fields): Promise<Response>;
  page(): Promise<string>;
  /**
   * Presses the page's first button of that URL with these fields.
   *
   * @param typed replaces the values of the inputs
   * @returns the page after it
   */
  press(action: string, having?: Fields, typed?: Fields): Promise<string>;
}

/** @param platformUrl called for each request: a test may start its platform later */
export function createPlatformVisitor(platformUrl: () => string): PlatformVisitor {
  const cookieJar = createCookieJar();
  const visitor: PlatformVisitor = {
    cookieJar,
    async request(path, form) {
      const url = new URL(path, platformUrl());
      const cookie = cookieJar.header(url);
      const answer = await fetch(url, {
        redirect: "manual",
        headers: cookie === undefined ? {} : { cookie },
        ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
      });
      cookieJar.store(url, answer.headers.getSetCookie());
      return answer;
    },
    page: async () => (await visitor.request("/")).text(),
    async press(action, having = {}, typed = {}) {
      const forms = parseForms(await visitor.page()).filter((form) => form.action === action);
      const fields = forms.map((form) => Object.fromEntries(form.fields));
      const found = fields.find((form) => Object.entries(having).every(([name, value]) => form[name] === value));
      await visitor.request(action, { ...found, ...typed });
      return visitor.page();
    },
  };
  return visitor;
}
