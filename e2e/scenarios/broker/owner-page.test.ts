/**
 * The page that names the client and its owner, in a real browser: on a phone, by keyboard, to
 * the vendor and back.
 */
import { startFakeVendor } from "@oauth-broker/simulators";
import type { BrowserContextOptions } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { createSecrets } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { startInProcessBroker } from "../../support/broker/in-process.ts";
import { createPlatform, type Platform } from "../../support/broker/platform.ts";
import { expectFit, openPage } from "../../support/pages/open-page.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

describe.skipIf(CHROMIUM === undefined)("the page of clients of several owners in Chromium", () => {
  /**
   * Stands in for the platform's page: a page of the broker itself, so that the browser stays on
   * this machine.
   */
  let home: string;
  let platform: Platform;
  const browser = shared(connectChromium);
  const stub = shared(() => startFakeVendor({ codes: "any" }));

  beforeAll(async () => {
    const secrets = createSecrets();
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    home = `${baseUrl}/`;
    const running = await startInProcessBroker(`base_url: ${baseUrl}
listen: { host: 127.0.0.1, port: ${new URL(baseUrl).port} }
store: "memory:"
keys: store
egress: { allow_loopback: true }
owners:
  - { id: acme, name: Acme Corporation of Great Length }
  - { id: globex }
clients:
  - { client_id: platform, name: The Platform, owner: acme, client_secret: ${secrets.platform}, redirect_uris: [${home}] }
  - { client_id: other, owner: globex, client_secret: ${secrets.other}, redirect_uris: [https://other.example/back] }
vendors:
  stub:
    name: Stub Vendor
    authorization_endpoint: ${stub.authorizationEndpoint}
    token_endpoint: ${stub.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`);
    platform = createPlatform({
      baseUrl,
      clientSecret: secrets.platform,
      redirectUri: home,
      vendor: "stub",
      scope: "files:read files:write",
    });
    return running.close;
  });

  /** @returns a page on which the user is asked, and every address the browser visits */
  async function asked(options: BrowserContextOptions) {
    const opened = await openPage(browser, options);
    await opened.page.goto(platform.authorizeUrl(await platform.push()));
    return opened;
  }

  it("bar#XA-9 names the client, fits a telephone, and leads to the vendor after a reload", async () => {
    const options = { viewport: { width: 360, height: 740 }, colorScheme: "dark" as const };
    const { context, page, visited, complaints } = await asked(options);
    await takeScreenshot(page, "owner-page/telephone");
    await page.getByRole("heading", { name: "Connect Stub Vendor to The Platform?" }).waitFor();
    await page.getByText("Acme Corporation of Great Length", { exact: true }).waitFor();
    await expectFit(page);
    await page.reload();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.has("code"));
    expect(visited.filter(({ href }) => href.startsWith(stub.authorizationEndpoint))).toHaveLength(1);
    expect(new URL(page.url()).pathname).toBe("/");
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("bar#XA-9 leads back to the platform with access_denied on Cancel, without JavaScript too", async () => {
    const { context, page, visited, complaints } = await asked({ javaScriptEnabled: false });
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL((url) => url.searchParams.get("error") === "access_denied");
    expect(visited.some(({ href }) => href.startsWith(stub.authorizationEndpoint))).toBe(false);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
