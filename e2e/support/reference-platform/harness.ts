/**
 * The reference platform in this process, behind a real port, with connectors as a deploy leaves
 * them, and users of its pages.
 */
import { listen } from "@oauth-broker/service";
import { createPlatform } from "@oauth-broker/platform/src/app.ts";
import { systemClock } from "@oauth-broker/oauth-core";
import type { Connector } from "@oauth-broker/platform/src/connectors/connector.ts";
import type { SettingsChange } from "@oauth-broker/platform/src/connectors/store.ts";
import { openStorage, type Storage } from "@oauth-broker/platform/src/storage.ts";
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

export interface PlatformHarness extends Pick<Storage, "connectors"> {
  readonly url: string;
  /** The redirect URI of every connector that is not hosted. */
  readonly callback: string;
  /** The hosted server's own redirect URI. */
  ownCallback(connector: string): string;
  /** Advances the clock with the next request. */
  advance(seconds: number): void;
  /** Active, with its server at `serverUrl`. */
  addConnector(
    id: string,
    serverUrl: string,
    settings: SettingsChange,
    callback?: Connector["callback"],
  ): Promise<void>;
  visitor(user: string): Promise<Visitor>;
  /** @throws Error when a planted secret is in the log */
  close(): Promise<void>;
}

/** A user of the pages, by forms and links alone. */
export interface Visitor {
  read(path: string): Promise<string>;
  /**
   * Submits the form of that action on the page.
   * @returns the URL it redirects to, or the page it answers
   */
  submit(page: string, action: string, fields?: Record<string, string>): Promise<{ location?: string; html: string }>;
  /** Connect, up to the callback, which is not requested. */
  toCallback(connector: string, options?: Partial<DriveConsentOptions>): Promise<URL>;
  /**
   * The whole flow.
   * @returns the connector's page
   */
  connect(connector: string, options?: Partial<DriveConsentOptions>): Promise<string>;
  /**
   * @returns the text of the answer as the Try page shows it, or the page that says why no answer
   *   came
   */
  callTool(connector: string, tool?: string): Promise<string>;
}

export async function startPlatform(): Promise<PlatformHarness> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const callback = `${url}/oauth/callback`;
  let offset = 0;
  const now = (): number => systemClock() + offset;
  const storage = await openStorage(temporaryFolder(), now, { allowCidrs: [] });
  const { connectors } = storage;
  const { log, requireClean } = keepLog("platform");
  const platform = createPlatform({ platformUrl: url, allowCidrs: [] }, { storage, log, now });
  const listening = await listen(platform.app, { host: "127.0.0.1", port });
  return {
    connectors,
    url,
    callback,
    ownCallback: (connector) => `${url}/oauth/connectors/${connector}/callback`,
    advance: (seconds) => void (offset += seconds),
    addConnector: async (id, serverUrl, settings, kind = "own") => {
      const connector = { id, name: `The ${id} server`, settings, callback: kind };
      await activeConnector(connector, serverUrl, { connectors, deployedAt: now() });
    },
    visitor: (user) => createVisitor(url, user),
    close: async () => {
      await listening.stop(0);
      await platform.close();
      await storage.close();
      requireClean();
    },
  };
}

/**
 * @param platform its URL, without a trailing slash
 * @param cookieJar of a browser that visits other sites too
 */
export async function createVisitor(
  platform: string,
  user: string,
  cookieJar: CookieJar = createCookieJar(),
): Promise<Visitor> {
  const visitor = createPageVisitor(platform, { jar: cookieJar });
  const read: Visitor["read"] = async (path) => (await visitor.get(path)).text();
  const submit: Visitor["submit"] = async (page, action, fields) => {
    const answer = await visitor.submit(page, action, fields);
    const location = answer.headers.get("location");
    return { html: await answer.text(), ...(location === null ? {} : { location }) };
  };
  const toCallback: Visitor["toCallback"] = async (connector, options = {}) => {
    const page = `/connectors/${connector}`;
    const { location = "", html } = await submit(page, `${page}/connect`);
    if (!URL.canParse(location)) throw new Error(`Connect led to ${location}: ${html}${await read(page)}`);
    return driveConsent(location, {
      stopAt: (url) => url.href.startsWith(`${platform}/oauth/`),
      cookieJar,
      ...options,
    });
  };
  await submit("/", "/sign-in", { user });
  return {
    read,
    submit,
    toCallback,
    connect: async (connector, options) => {
      const answer = await visitor.get((await toCallback(connector, options)).href);
      return read(answer.headers.get("location") ?? "");
    },
    callTool: async (connector, tool = "whoami") => {
      const page = `/connectors/${connector}/try`;
      const shown = await read(page);
      if (!shown.includes(`action="${page}"`)) return shown;
      const { html } = await submit(page, page, { tool, input: "{}" });
      return /<pre role="status">([^]*?)<\/pre>/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? html;
    },
  };
}
