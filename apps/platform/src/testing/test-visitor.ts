/** The platform's pages with a browser without scripts, in one process. */
import { createCookieJar, type CookieJar } from "@oauth-broker/simulators";
import { createLog } from "@oauth-broker/oauth-core/service";
import { createPlatform, type Platform } from "../app.ts";
import { openTestConnect, type TestConnect } from "./test-connect.ts";

export const PLATFORM_URL = "https://platform.example";

export interface TestPlatform {
  readonly platform: Platform;
  readonly desk: TestConnect;
  readonly log: readonly string[];
  visitor(): Visitor;
  close(): Promise<void>;
}

export interface Visitor {
  readonly jar: CookieJar;
  get(path: string): Promise<Response>;
  post(path: string, fields: Record<string, string>): Promise<Response>;
  /** Opens the page, reads the form's token from it, and sends the form. */
  submit(page: string, path: string, fields?: Record<string, string>): Promise<Response>;
  signIn(userId: string): Promise<Response>;
}

export async function openTestPlatform(platformUrl = PLATFORM_URL): Promise<TestPlatform> {
  const desk = await openTestConnect();
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const platform = createPlatform({ platformUrl, allowCidrs: [] }, { storage: desk, log, now: desk.now });
  return {
    platform,
    desk,
    log: lines,
    visitor: () => createVisitor(platform, platformUrl),
    close: async () => {
      await platform.close();
      await desk.close();
    },
  };
}

function createVisitor({ app }: Platform, platformUrl: string): Visitor {
  const jar = createCookieJar();
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(path, platformUrl);
    const cookie = jar.header(url);
    const answer = await app.request(url.href, { ...init, headers: cookie === undefined ? {} : { cookie } });
    jar.store(url, answer.headers.getSetCookie());
    return answer;
  };
  const get: Visitor["get"] = (path) => send(path);
  const post: Visitor["post"] = (path, fields) => send(path, { method: "POST", body: new URLSearchParams(fields) });
  const submit: Visitor["submit"] = async (page, path, fields = {}) => {
    const html = await (await get(page)).text();
    const [, csrf = ""] =
      new RegExp(`action="${path}"><input type="hidden" name="csrf" value="([^"]+)"`).exec(html) ?? [];
    return post(path, { csrf, ...fields });
  };
  return { jar, get, post, submit, signIn: (user) => submit("/", "/sign-in", { user }) };
}
