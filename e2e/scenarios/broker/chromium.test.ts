/**
 * The sandbox in a real browser: what a new user sees, and that every error
 * page has a link back.
 */
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startInProcessSandbox } from "../../support/broker/sandbox.ts";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { expectFit, openPage } from "../../support/pages/open-page.ts";
import { plantSecret } from "../../support/secrets.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

describe.skipIf(CHROMIUM === undefined)("the sandbox in Chromium", () => {
  const broker = shared(startInProcessSandbox);
  const browser = shared(connectChromium);
  let context: BrowserContext;
  let page: Page;
  /** Addresses that the page visited, redirects included. */
  let visited: URL[];
  let complaints: string[];
  /** At the platform alone. */
  let signedIn: Awaited<ReturnType<BrowserContext["storageState"]>> = { cookies: [], origins: [] };

  beforeEach(async () => {
    const options = { viewport: { width: 1000, height: 900 }, storageState: signedIn, isRefused: true };
    ({ context, page, visited, complaints } = await openPage(browser, options));
  });
  afterEach(async () => {
    expect(complaints).toEqual([]);
    for (const { searchParams } of visited) {
      plantSecret("request_uri in the browser", searchParams.get("request_uri"));
      const state = searchParams.get("state");
      if (state?.startsWith("eyJ") === true) plantSecret("state JWT in the browser", state);
    }
    await context.close();
  });

  const shot = (name: string): Promise<void> => takeScreenshot(page, `sandbox/${name}`);
  const click = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  /** The user may be connected already, in another browser. */
  const clickConnect = (): Promise<void> => page.getByRole("button", { name: /^Connect/ }).click();
  const signIn = (): Promise<void> => page.getByRole("button", { name: "Continue as Sample user" }).click();
  const sees = (text: string, of: Page = page): Promise<void> => of.getByText(text).first().waitFor();

  /** The platform's page about the vendor; the first browser chooses a user. */
  async function openVendor(): Promise<void> {
    await page.goto(vendorPage());
    if (new URL(page.url()).pathname !== "/") return;
    await click("First user");
    signedIn = await context.storageState();
    await page.goto(vendorPage());
  }

  /** From the platform's page up to the vendor's consent page. */
  async function toConsent(): Promise<void> {
    await openVendor();
    await clickConnect();
    await signIn();
    await page.getByRole("button", { name: "Allow" }).waitFor();
  }

  const vendorPage = (): string => `${broker.home}/connectors/sandbox`;

  const lastVisit = (path: string): URL => {
    const found = visited.findLast((url) => url.origin === broker.url && url.pathname === path);
    if (found === undefined) throw new Error(`${path} was not visited`);
    return found;
  };

  async function onTelephone(): Promise<void> {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: "dark" });
  }

  /** Expects a page of the broker that says what happened and links to the platform. */
  async function expectWayBack(name: string, text: string): Promise<void> {
    await sees(text);
    expect(new URL(page.url()).origin).toBe(broker.url);
    await shot(name);
    await page.getByRole("link", { name: /^Back to/ }).click();
    await page.waitForURL(`${broker.home}/connectors`);
  }

  it("connects, shows masked tokens and checks, refreshes and revokes", async () => {
    await page.goto(broker.home);
    await click("First user");
    await shot("01-start");
    await openVendor();
    await clickConnect();
    await shot("02-sign-in");
    await signIn();
    await sees("to use your Sandbox vendor account?");
    await shot("03-consent");
    await click("Allow");
    await sees("Real tokens of Sandbox vendor");
    await shot("04-connected");
    for (const line of [
      "client authenticated",
      "PKCE #1 is S256",
      "same browser by cookie",
      "iss names this vendor",
      "iss is the broker",
    ]) {
      await sees(line);
    }
    const masked = await page.locator("dd code").allTextContents();
    expect(masked.filter((text) => text.endsWith("…")).length).toBeGreaterThanOrEqual(3);
    expect(await page.content()).not.toMatch(/eyJ[\w-]{20,}/);
    expect(page.url()).not.toContain("code=");

    await click("Refresh");
    await sees("Refreshed: a new access token arrived");
    await shot("05-refreshed");
    await click("Revoke refresh token");
    await sees("Revoked at the vendor");
    await shot("06-revoked");
    await click("Refresh");
    await sees("invalid_grant");
    await shot("07-refresh-after-revoke");
    await clickConnect();
    await signIn();
    await click("Allow");
    await sees("Real tokens of Sandbox vendor");
    expect(page.url()).toBe(vendorPage());
  });

  it("shows access_denied after a cancel at the vendor, on either page, and can go on", async () => {
    await toConsent();
    await click("Cancel");
    await sees("access_denied");
    await shot("08-cancelled");
    expect(lastVisit("/v1/callback").searchParams.get("error")).toBe("access_denied");
    await clickConnect();
    await click("Cancel");
    await sees("access_denied");
    await clickConnect();
    await signIn();
    await click("Allow");
    await sees("Real tokens of Sandbox vendor");
  });

  it("survives Back at the vendor and Back after the end", async () => {
    await openVendor();
    await clickConnect();
    await page.getByRole("button", { name: "Continue as Sample user" }).waitFor();
    await page.goBack();
    await sees("Your connection");
    await toConsent();
    await click("Allow");
    await sees("Real tokens of Sandbox vendor");
    await page.goBack();
    await sees("This page was answered before, or belongs to another browser");
    await shot("09-back-after-the-end");
    await openVendor();
    await sees("Real tokens of Sandbox vendor");
    expect(visited.filter(({ pathname }) => pathname === "/v1/authorize")).toHaveLength(2);
  });

  it("fits a telephone in the dark, and survives a reload of each address of a flow, or leads back", async () => {
    await onTelephone();
    await openVendor();
    await clickConnect();
    await page.getByRole("button", { name: "Continue as Sample user" }).waitFor();
    const start = lastVisit("/v1/authorize").href;
    await page.goto(start);
    await signIn();
    await click("Allow");
    await sees("Real tokens of Sandbox vendor");
    await shot("10-telephone-connected");
    await expectFit(page);
    const callback = lastVisit("/v1/callback").href;
    const own = visited.findLast(({ pathname }) => pathname === "/oauth/callback");
    await page.goto(start);
    await expectWayBack("11-start-address-again", "This link was already used");
    await page.goto(own?.href ?? "");
    await sees("This sign-in was already finished");
    await shot("12-platform-callback-again");
    await page.getByRole("link", { name: "To the connectors" }).click();
    await sees("Connected");
    await page.goto(callback);
    await expectWayBack("13-callback-again", "This sign-in was already finished");
    await sees("Connected");
    await page.goto(`${broker.url}/v1/callback`);
    await expectFit(page);
    await expectWayBack("14-callback-without-state", "This sign-in");
  });

  it("leads a stranger's browser back too, and does the flow no harm", async () => {
    await toConsent();
    const cookies = await context.cookies(broker.url);
    await context.clearCookies({ name: /^flow-/ });
    await click("Allow");
    await sees("browser_mismatch");
    const callback = lastVisit("/v1/callback").href;
    const elsewhere = await browser.newContext();
    const stranger = await elsewhere.newPage();
    await stranger.goto(callback);
    await sees("browser_mismatch", stranger);
    await stranger.getByRole("link", { name: /^Back to/ }).waitFor();
    await elsewhere.close();
    await context.addCookies(cookies);
    await page.goto(callback);
    await sees("Real tokens of Sandbox vendor");
    expect(page.url()).toBe(vendorPage());
  });

  it("has a home page that links to the sandbox", async () => {
    await context.clearCookies();
    await page.goto(broker.url);
    await shot("15-broker-home");
    await onTelephone();
    await shot("16-telephone-broker-home");
    await expectFit(page);
    await page.getByRole("link", { name: "Try a whole flow in the sandbox" }).click();
    await sees("Choose a user");
    await shot("17-telephone-start");
    await page.goto(`${broker.url}/nothing-here`);
    await sees("There is no such page");
    expect(visited.every(({ hostname }) => hostname === "127.0.0.1")).toBe(true);
    await shot("18-not-found");
  });
});
