/**
 * The platform's pages in a real browser, at the width of a small phone: a user is chosen, cancels, connects a
 * hosted server and calls a tool; an administrator makes a mistake under Settings.
 */
import type { Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { startGitHubVendor } from "../../support/mcp/vendor.ts";
import { expectFit } from "../../support/pages/open-page.ts";
import { openActor, type Actor } from "../../support/reference-platform/actor.ts";
import { startPlatform } from "../../support/reference-platform/harness.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const WIDTH = 360;
const HOSTED = { authentication: "oauth_2_1", registration: "hosted_server" } as const;

describe.skipIf(CHROMIUM === undefined)("the platform in Chromium", () => {
  const platform = shared(startPlatform);
  const vendor = shared(() => startGitHubVendor({ redirectUris: [platform.ownCallback("hosted")] }));
  const server = shared(async () => {
    const callback = { PLATFORM_OAUTH_CALLBACK_URL: platform.ownCallback("hosted") };
    return serveTemplate({ ...(await hostedEnvironment()), ...vendor.env, ...callback });
  });
  const browser = shared(connectChromium);
  let actor: Actor;
  let page: Page;

  beforeAll(async () => {
    await platform.addConnector("hosted", server.mcp, HOSTED);
    await platform.connectors.create({ id: "a-draft", name: "A draft without a server" });
  });
  beforeEach(async () => {
    actor = await openActor(browser, platform.url, { viewport: { width: WIDTH, height: 900 } });
    ({ page } = actor);
  });
  afterEach(async () => {
    await actor.leave();
    expect(actor.complaints).toEqual([]);
  });

  const shot = async (name: string): Promise<void> => {
    await takeScreenshot(page, `platform/${name}`);
    // Nothing is cut off, and no page scrolls sideways.
    await expectFit(page);
    const fields = "[...document.querySelectorAll('input:not([type=hidden]),select')]";
    expect(await page.evaluate(`${fields}.every((field) => field.labels.length > 0)`)).toBe(true);
    expect(await page.locator("h1").count()).toBe(1);
  };

  it("a user cancels, connects, calls a tool and disconnects", async () => {
    await page.goto(platform.url);
    await actor.sees(/not an identity system/);
    await shot("1-users");
    await actor.click("First user");
    await actor.sees("Not connected");
    await shot("2-connectors");

    await actor.follow("The hosted server");
    await actor.click("Connect");
    await actor.answerVendor("Cancel");
    await actor.sees("You cancelled at the vendor. Nothing has changed.");
    await actor.sees("access_denied");
    await shot("3-cancelled");

    await actor.click("Connect");
    await actor.answerVendor();
    await page.getByText("Connected", { exact: true }).first().waitFor();
    expect(new URL(page.url()).search).toBe("");
    await shot("4-connected");

    expect(await actor.callTool()).toContain('"login"');
    await shot("5-answer");

    await actor.follow("Connection");
    await page.getByText("Disconnect", { exact: true }).click();
    await actor.sees(/until you connect again/);
    await shot("6-disconnect");
    await actor.click("Yes, disconnect");
    await actor.sees(/Your tokens are deleted here, and revoked/);
    await actor.sees("Not connected");
    await shot("7-disconnected");
  });

  it("an administrator sees the problem at the field, by keyboard alone", async () => {
    await actor.signIn("Administrator");
    await actor.follow("A draft without a server");
    await actor.follow("Settings");
    await page.getByLabel("Authentication").selectOption("OAuth 2.1");
    await page.getByLabel("Registration").selectOption("Pre-registered Client");
    await page.getByLabel("Token URL").fill("https://10.0.0.1/token");
    await page.getByLabel("Client Secret").fill("a-secret-that-must-not-come-back");
    await page.getByLabel("Client ID").fill("our-client");
    await page.getByLabel("Token URL").press("Enter");
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Token URL").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Client Secret").inputValue()).toBe("");
    expect(await page.getByLabel("Client ID").inputValue()).toBe("our-client");
    await shot("6-problem");

    await page.getByLabel("Token URL").fill("https://vendor.example/token");
    await page.getByLabel("Authorization URL").fill("https://vendor.example/authorize");
    await page.getByLabel("Client Secret").fill("a-secret-that-must-not-come-back");
    await page.keyboard.press("Enter");
    await actor.sees("Saved.");
    expect(await page.content()).not.toContain("a-secret-that-must-not-come-back");
    await shot("7-saved");
  });
});
