/** The platform's pages with a browser without scripts, in one process. */
import { defined } from "@oauth-broker/oauth-core";
import { createVisitor, type Visitor as PageVisitor } from "@oauth-broker/simulators";
import { createLog } from "@oauth-broker/service";
import { createPlatform, type Platform, type PlatformOptions, type PlatformParts } from "../app.ts";
import { openTestConnect } from "./test-connect.ts";

export const PLATFORM_URL = "https://platform.example";

export type TestPlatform = Awaited<ReturnType<typeof openTestPlatform>>;

export interface Visitor extends PageVisitor {
  signIn(userId: string): Promise<Response>;
}

export async function openTestPlatform(
  platformUrl = PLATFORM_URL,
  { fetch, ...options }: Partial<PlatformOptions> & Pick<PlatformParts, "fetch"> = {},
) {
  const desk = await openTestConnect();
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const platform = createPlatform(
    { ...options, platformUrl, allowCidrs: [] },
    { storage: desk, log, now: desk.now, ...defined({ fetch }) },
  );
  return {
    platform,
    desk,
    log: lines,
    visitor: () => visitorOf(platform, platformUrl),
    close: async () => {
      await platform.close();
      await desk.close();
    },
  };
}

function visitorOf({ app }: Platform, platformUrl: string): Visitor {
  const visitor = createVisitor(platformUrl, { send: (url, init) => app.request(url, init) });
  return { ...visitor, signIn: (user) => visitor.submit("/", "/sign-in", { user }) };
}

/** What a script may read of the first page at this address: its cookie, and its form's token. */
export async function firstPage(
  { app }: Pick<Platform, "app">,
  url: string,
): Promise<{ cookie: string; csrf: string }> {
  const page = await app.request(url);
  const [cookie = ""] = page.headers.getSetCookie().map((set) => set.split(";")[0] ?? "");
  return { cookie, csrf: csrfIn(await page.text()) };
}

export const csrfIn = (html: string): string => /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
