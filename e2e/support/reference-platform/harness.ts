/**
 * The reference platform in this process, behind a real port, with connectors as a deploy leaves
 * them, and users of its pages.
 */
import { listen } from "@oauth-broker/service";
import { createPlatform } from "@oauth-broker/platform/src/app.ts";
import { systemClock } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { SettingsChange } from "@oauth-broker/platform/src/connectors/connector.ts";
import { openStorage } from "@oauth-broker/platform/src/storage.ts";
import { activeConnector } from "@oauth-broker/platform/src/testing/active-connector.ts";
import {
  type CookieJar,
  createCookieJar,
  createVisitor as createPageVisitor,
  driveConsent,
  type DriveConsentOptions,
} from "@oauth-broker/simulators";
import { freePort } from "../free-port.ts";
import { keepLog, temporaryFolder } from "../service-process.ts";

export type PlatformHarness = Awaited<ReturnType<typeof startPlatform>>;
export async function startPlatform() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const callback = `${url}/oauth/callback`;
  const now = fixedClock(systemClock());
  const storage = await openStorage(temporaryFolder(), now, { allowCidrs: [] });
  const { connectors } = storage;
  const { log, requireClean } = keepLog("platform");
  const platform = createPlatform({ platformUrl: url, allowCidrs: [] }, { storage, log, now });
  const listening = await listen(platform.app, { host: "127.0.0.1", port });
  return {
    connectors,
    url,
    /** The redirect URI of every connector that is not hosted. */
    callback,
    /** The hosted server's own redirect URI. */
    ownCallback: (connector: string) => `${url}/oauth/connectors/${connector}/callback`,
    /** Advances the clock, which stands still otherwise. */
    advance: now.advance,
    /** Active, with its server at `serverUrl`. */
    addConnector: async (
      id: string,
      serverUrl: string,
      settings: SettingsChange,
      callback: "own" | "shared" = "own",
    ) => {
      const connector = { id, name: `The ${id} server`, settings, callback };
      await activeConnector(connector, serverUrl, { connectors, deployedAt: now() });
    },
    visitor: (user: string) => createVisitor(url, user),
    /** @throws Error when a planted secret is in the log */
    close: async () => {
      await listening.stop(0);
      await platform.close();
      await storage.close();
      requireClean();
    },
  };
}

export type Visitor = Awaited<ReturnType<typeof createVisitor>>;
/**
 * A user of the pages, by forms and links alone.
 * @param platform its URL, without a trailing slash
 * @param cookieJar of a browser that visits other sites too
 */
export async function createVisitor(platform: string, user: string, cookieJar: CookieJar = createCookieJar()) {
  const visitor = createPageVisitor(platform, { jar: cookieJar });
  const read = async (path: string): Promise<string> => (await visitor.get(path)).text();
  const submit = async (page: string, action: string, fields?: Record<string, string>) => {
    const answer = await visitor.submit(page, action, fields);
    return { html: await answer.text(), location: answer.headers.get("location") ?? undefined };
  };
  const toCallback = async (connector: string, options: Partial<DriveConsentOptions> = {}): Promise<URL> => {
    const page = `/connectors/${connector}`;
    const { location = "", html } = await submit(page, `${page}/connect`);
    if (!URL.canParse(location)) throw new Error(`Connect led to ${location}: ${html}${await read(page)}`);
    const stopAt = (url: URL): boolean => url.href.startsWith(`${platform}/oauth/`);
    return driveConsent(location, { stopAt, cookieJar, ...options });
  };
  await submit("/", "/sign-in", { user });
  return {
    read,
    /**
     * Submits the form of that action on the page.
     * @returns the URL it redirects to, and the page it answers
     */
    submit,
    /** Connect, up to the callback, which is not requested. */
    toCallback,
    /**
     * The whole flow.
     * @returns the connector's page
     */
    connect: async (connector: string, options?: Partial<DriveConsentOptions>) => {
      const answer = await visitor.get((await toCallback(connector, options)).href);
      return read(answer.headers.get("location") ?? "");
    },
    /**
     * @returns the text of the answer as the Try page shows it, or the page that says why no answer
     *   came
     */
    callTool: async (connector: string) => {
      const page = `/connectors/${connector}/try`;
      const shown = await read(page);
      if (!shown.includes(`action="${page}"`)) return shown;
      const { html } = await submit(page, page, { tool: "whoami", input: "{}" });
      return /<pre role="status">([^]*?)<\/pre>/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? html;
    },
  };
}
