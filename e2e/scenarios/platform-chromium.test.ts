/**
 * The platform's pages in a real browser, wide and narrow: a user is chosen, cancels, connects a hosted server and calls a tool; an
 * administrator makes a mistake under Settings. Screenshots go to a temporary folder that is printed.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CHROMIUM, launchChromium, NO_CHROMIUM, screenshotPath } from "../support/chromium.ts";
import { hostedEnvironment, type McpServer, startMcpServer } from "../support/mcp-process.ts";
import { type GitHubVendor, startGitHubVendor } from "../support/mcp-vendor.ts";
import { type PlatformStage, startPlatform } from "../support/platform-stage.ts";
import { plantSecret } from "../support/secrets.ts";

if (CHROMIUM === undefined) console.warn(NO_CHROMIUM);

const HOSTED = { authentication: "oauth_2_1", registration: "hosted_server" } as const;

describe.skipIf(CHROMIUM === undefined)("the platform in Chromium", () => {
  const shots = join(tmpdir(), `platform-screenshots-${process.pid}`);
  let platform: PlatformStage;
  let vendor: GitHubVendor;
  let server: McpServer;
  let browser: Browser;

  beforeAll(async () => {
    platform = await startPlatform();
    vendor = await startGitHubVendor({ redirectUris: [platform.callback] });
    const env = { ...(await hostedEnvironment()), ...vendor.env, PLATFORM_OAUTH_CALLBACK_URL: platform.callback };
    server = await startMcpServer(env);
    await platform.connectors.create({ id: "a-draft", name: "A draft without a server" });
    browser = await launchChromium(CHROMIUM ?? "");
    console.log(`Screenshots: ${shots}`);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await platform.close();
    await vendor.close();
  });

  describe.each([1280, 360])("at %i px", (width) => {
    let context: BrowserContext;
    let page: Page;
    let complaints: string[];
    const id = `hosted-${width}`;

    beforeAll(() => platform.addConnector(id, server.mcp, HOSTED));
    beforeEach(async () => {
      context = await browser.newContext({ viewport: { width, height: 900 } });
      context.setDefaultTimeout(15_000);
      complaints = [];
      context.on("weberror", (error) => complaints.push(error.error().message));
      // Refusals are answered with 400 on purpose; everything else a browser complains about is a defect of a page.
      context.on("console", (message) => {
        if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) complaints.push(message.text());
      });
      context.on("request", (request) => {
        plantSecret("code in the browser", new URL(request.url()).searchParams.get("code"));
      });
      page = await context.newPage();
    });
    afterEach(async () => {
      expect(complaints).toEqual([]);
      await context.close();
    });

    const click = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
    const sees = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
    const shot = async (name: string): Promise<void> => {
      await page.screenshot({ path: screenshotPath(shots, `${width}-${name}`), fullPage: true });
      // Nothing is cut off or has to be scrolled to sideways.
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      const fields = "[...document.querySelectorAll('input:not([type=hidden]),select')]";
      expect(await page.evaluate(`${fields}.every((field) => field.labels.length > 0)`)).toBe(true);
      expect(await page.locator("h1").count()).toBe(1);
    };
    const signIn = async (user: string): Promise<void> => {
      await page.goto(platform.url);
      await click(user);
      await page.getByRole("heading", { name: "Connectors" }).waitFor();
    };

    it("a user cancels, connects, calls a tool and disconnects", async () => {
      await page.goto(platform.url);
      await sees(/not an identity system/);
      await shot("1-users");
      await click("First user");
      await sees("Not connected");
      await shot("2-connectors");

      await page.getByRole("link", { name: `The ${id} server` }).click();
      await click("Connect");
      await atVendor("Cancel");
      await sees("You cancelled at the vendor. Nothing was connected.");
      await sees("access_denied");
      await shot("3-cancelled");

      await click("Connect");
      await atVendor("Allow");
      await page.getByText("Connected", { exact: true }).first().waitFor();
      expect(new URL(page.url()).search).toBe("");
      await shot("4-connected");

      await page.getByRole("link", { name: "Try" }).click();
      await page.getByLabel("Tool").selectOption("whoami");
      await click("Call the tool");
      await sees(/"login"/);
      await shot("5-answer");

      await page.getByRole("link", { name: "Connection" }).click();
      await click("Disconnect");
      await sees("Not connected");
    });

    it("an administrator is told at the field what is wrong, by keyboard alone", async () => {
      await signIn("Administrator");
      await page.getByRole("link", { name: "A draft without a server" }).click();
      await page.getByRole("link", { name: "Settings" }).click();
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
      await sees("Saved.");
      expect(await page.content()).not.toContain("a-secret-that-must-not-come-back");
      await shot("7-saved");
      // As it was, for the other width.
      await platform.connectors.changeSettings("a-draft", {
        authentication: "none",
        registration: "none",
        clientId: "",
        clientSecret: null,
        tokenUrl: "",
        authorizationUrl: "",
      });
    });

    /** Signs in at the vendor where it asks, and answers its consent page. */
    async function atVendor(answer: "Allow" | "Cancel"): Promise<void> {
      await page.waitForURL((url) => url.origin === vendor.github.url);
      const person = page.getByRole("button", { name: /Sample user/ });
      if ((await person.count()) > 0) await person.first().click();
      await page.getByRole("button", { name: new RegExp(`^${answer}`) }).click();
      await page.waitForURL((url) => url.origin === platform.url);
    }
  });
});
