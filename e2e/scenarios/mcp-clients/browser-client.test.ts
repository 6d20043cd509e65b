/**
 * MCP clients that are web pages of another origin: the stock SDK in Chromium registers, sends its
 * user to sign in, lists tools and calls one, at a server that allows its origin, reached directly
 * and through the platform's ingress. A server that does not allow the origin stays closed to it.
 */
import { fileURLToPath } from "node:url";
import { createIngress } from "@oauth-broker/platform/src/routes/ingress.ts";
import { Secret } from "@oauth-broker/oauth-core";
import { createLog, listen, type Listening } from "@oauth-broker/service";
import { startScriptedVendor } from "@oauth-broker/simulators";
import type { Page } from "playwright-core";
import { build } from "rolldown";
import { describe, expect, it } from "vitest";
import type { BrowserOutcome } from "../../support/mcp/browser-client-page.ts";
import { CHROMIUM, connectChromium } from "../../support/chromium.ts";
import { freePort } from "../../support/free-port.ts";
import type { Era } from "../../support/mcp/client.ts";
import { startServerCallback } from "../../support/mcp/server-callback.ts";
import { openPage } from "../../support/pages/open-page.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const EXPOSED = ["/.well-known/*", "/authorize", "/callback", "/token", "/register", "/revoke"];

/** At its own origin. */
async function serveBrowserClient() {
  const page = '<!doctype html><script type="module" src="/page.js"></script>';
  const { url: origin, close } = await startScriptedVendor({
    "/page.js": { headers: { "content-type": "text/javascript" }, body: await bundlePage() },
    "*": { headers: { "content-type": "text/html" }, body: page },
  });
  /** The URL that a user opens. */
  const urlOf = (mcp: string, era: Era): string => `${origin}/?${new URLSearchParams({ mcp, era }).toString()}`;
  return { origin, url: urlOf, close };
}

async function bundlePage(): Promise<string> {
  const input = fileURLToPath(new URL("../../support/mcp/browser-client-page.ts", import.meta.url));
  const { output } = await build({ input, platform: "browser", write: false, output: { codeSplitting: false } });
  return output[0].code;
}

interface Door {
  /** The public address of the server. */
  readonly url: string;
  close(): Promise<void>;
}

async function openDirectly(allowedOrigins: string): Promise<Door> {
  const harness = await startServerCallback(() => ({
    ALLOWED_ORIGINS: allowedOrigins,
    OAUTH_DYNAMIC_REGISTRATION: "open",
  }));
  return { url: harness.server.url, close: harness.close };
}

async function openBehindIngress(allowedOrigins: string): Promise<Door> {
  const port = await freePort();
  let url = "";
  const harness = await startServerCallback((baseUrl) => {
    url = baseUrl;
    return { ALLOWED_ORIGINS: allowedOrigins, OAUTH_DYNAMIC_REGISTRATION: "open", PORT: String(port) };
  });
  const upstream = {
    connectorId: "browser",
    deploymentUrl: url,
    mode: "hosted",
    expose: EXPOSED,
    allowedOrigins: [allowedOrigins],
    target: { host: "127.0.0.1", port },
    platformToken: new Secret("of-the-platform"),
  } as const;
  const app = createIngress(upstream, { log: createLog({ write: () => undefined }) });
  const ingress: Listening = await listen(app, { host: "127.0.0.1", port: Number(new URL(url).port) });
  return {
    url,
    close: async () => {
      await ingress.stop(0);
      await harness.close();
    },
  };
}

describe.skipIf(CHROMIUM === undefined)("a client that is a web page", () => {
  const client = shared(serveBrowserClient);
  const browser = shared(connectChromium);

  async function outcomeOf(page: Page): Promise<BrowserOutcome> {
    await page.locator("body[data-done]").waitFor();
    return JSON.parse((await page.locator("body").textContent()) ?? "") as BrowserOutcome;
  }

  it.each([
    ["directly", "modern", openDirectly],
    ["behind the platform's ingress", "legacy", openBehindIngress],
  ] as const)("bar#HT-8 signs its user in and calls a tool, %s, %s", async (_, era, openDoor) => {
    const door = await openDoor(client.origin);
    const { page } = await openPage(browser);
    await page.goto(client.url(`${door.url}/mcp`, era));
    await page.getByRole("button", { name: "Continue to sandbox-op" }).click();
    await page.getByRole("button", { name: "Continue as Sample user" }).click();
    await page.getByRole("button", { name: "Allow" }).click();
    const outcome = await outcomeOf(page);
    expect(outcome).toEqual({
      challenge: expect.stringContaining(`resource_metadata="${door.url}/.well-known/oauth-protected-resource/mcp"`),
      tools: expect.arrayContaining(["whoami"]),
      answer: expect.stringContaining('"sub": "user"'),
    });
    await page.context().close();
    await door.close();
  });

  it.each([
    ["directly", openDirectly],
    ["behind the platform's ingress", openBehindIngress],
  ] as const)("bar#HT-8 of an origin that is not on the list gets nowhere, %s", async (_, openDoor) => {
    const door = await openDoor("https://app.example");
    const { page } = await openPage(browser);
    await page.goto(client.url(`${door.url}/mcp`, "modern"));
    expect(await outcomeOf(page)).toEqual({ error: "TypeError: Failed to fetch" });
    await page.context().close();
    await door.close();
  });
});
