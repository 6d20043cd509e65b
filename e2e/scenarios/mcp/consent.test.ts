/**
 * The consent page of a server with its own callback, in a real browser: on a phone, by keyboard,
 * to the vendor and back.
 */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { challengeOf } from "../../support/broker/platform.ts";
import { freePort } from "../../support/free-port.ts";
import { startServerCallback } from "../../support/mcp/server-callback.ts";
import { expectFit, openPage } from "../../support/pages/open-page.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

describe.skipIf(CHROMIUM === undefined)("the consent page in Chromium", () => {
  const harness = shared(() =>
    startServerCallback((baseUrl) => ({
      OAUTH_CLIENTS: JSON.stringify([
        { client_id: "desk", client_name: "Desk Assistant", redirect_uris: [`${baseUrl}/healthz`] },
      ]),
    })),
  );
  /**
   * Stands in for the client's page: a page of the server itself, so that the browser stays on this
   * machine.
   */
  const back = (): string => `${harness.server.url}/healthz`;
  const browser = shared(connectChromium);

  /** Where a client sends its user. */
  const ask = (): string => {
    const pkce = { code_challenge: challengeOf("v".repeat(43)), code_challenge_method: "S256" };
    const asked = { response_type: "code", client_id: "desk", redirect_uri: back(), state: "of-the-client", ...pkce };
    return `${harness.server.url}/authorize?${new URLSearchParams(asked).toString()}`;
  };

  /** Signs in and consents there, without a pointer. */
  async function atVendor(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Continue as Sample user" }).press("Enter");
    await page.getByRole("button", { name: "Allow" }).press("Enter");
    await page.waitForURL((url) => url.href.startsWith(back()));
  }

  it("bar#AS-7 names the client, fits a telephone, and leads to the vendor and back by keyboard", async () => {
    const options = { viewport: { width: 360, height: 740 }, colorScheme: "dark" as const };
    const { context, page, visited, complaints } = await openPage(browser, options);
    await page.goto(ask());
    await takeScreenshot(page, "consent/telephone");
    await page.getByRole("heading", { name: "Let Desk Assistant use your sandbox-op account?" }).waitFor();
    for (const text of ["the operator of this server", "openid profile offline_access", back()])
      await page.getByText(text, { exact: true }).waitFor();
    await expectFit(page);
    expect(visited.some(({ href }) => href.startsWith(harness.provider.issuer))).toBe(false);
    await page.reload();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Continue to sandbox-op");
    await page.keyboard.press("Enter");
    await atVendor(page);
    const { searchParams } = new URL(page.url());
    expect([searchParams.get("state"), searchParams.get("iss"), searchParams.has("code")]).toEqual([
      "of-the-client",
      harness.server.url,
      true,
    ]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("bar#AS-22 leads back with access_denied on Cancel, without JavaScript or the vendor", async () => {
    const { context, page, visited } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(ask());
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("error") === "access_denied");
    expect(new URL(page.url()).searchParams.get("iss")).toBe(harness.server.url);
    expect(visited.some(({ href }) => href.startsWith(harness.provider.issuer))).toBe(false);
    await context.close();
  });

  it("bar#AS-7 a page of another origin can neither frame it nor post its form", async () => {
    const { context, page } = await openPage(browser);
    await page.goto(ask());
    const [form = ""] = /<form[\s\S]*<\/form>/.exec(await page.content()) ?? [];
    // Another port of the same host: for cookies the same site.
    const elsewhere = `http://127.0.0.1:${await freePort()}/`;
    const stolen = form.replace('action="/authorize"', `action="${harness.server.url}/authorize"`);
    await context.route(elsewhere, async (route) => {
      const body = `<iframe src="${ask().replaceAll("&", "&amp;")}"></iframe>${stolen}`;
      await route.fulfill({ contentType: "text/html", body });
    });
    await page.goto(elsewhere);
    expect(await page.frames()[1]?.locator("form").count()).toBe(0);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url() === `${harness.server.url}/authorize`),
      page.getByRole("button", { name: "Continue to sandbox-op" }).click(),
    ]);
    expect(answer.status()).toBe(403);
    await context.close();
  });
});
