/**
 * The sandbox's vendors in a real browser: what a user ticks, chooses and types reaches the tokens,
 * on any screen.
 */
import { afterEach, describe, expect, it } from "vitest";
import { startInProcessSandbox } from "../../support/broker/sandbox.ts";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { expectFit, openPage } from "../../support/pages/open-page.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

describe.skipIf(CHROMIUM === undefined)("the sandbox's vendors in Chromium", () => {
  const broker = shared(startInProcessSandbox);
  const browser = shared(connectChromium);
  let opened: Awaited<ReturnType<typeof openPage>>;
  let page: typeof opened.page;

  afterEach(async () => {
    await opened.context.close();
    expect(opened.complaints).toEqual([]);
  });

  async function open(width: number): Promise<void> {
    opened = await openPage(browser, { viewport: { width, height: 900 } });
    ({ page } = opened);
    await page.goto(broker.home);
    await click("First user");
  }

  async function openVendor(name: string): Promise<void> {
    await page.goto(`${broker.home}/connectors`);
    await page.getByRole("link", { name, exact: true }).click();
  }

  const click = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  /** The user may be connected already, in another browser. */
  const connect = (): Promise<void> => page.getByRole("button", { name: /^Connect/ }).click();
  const signIn = (account: "user" | "operator" = "user"): Promise<void> =>
    page.getByRole("button", { name: `Continue as Sample ${account}` }).click();
  const sees = (text: string): Promise<void> => page.getByText(text).first().waitFor();

  /** Checks also that no page is wider than the screen. */
  async function shot(name: string): Promise<void> {
    await takeScreenshot(page, `vendors/${name}`);
    await expectFit(page);
  }

  it("leaves a permission out at Google Workspace, on a telephone", async () => {
    await open(360);
    await shot("vendors");
    await openVendor("Google Workspace");
    await page.getByLabel("Service").selectOption("Drive");
    await connect();
    await signIn();
    await page.getByRole("checkbox", { name: /Gmail/ }).uncheck();
    await shot("google-workspace-consent");
    await click("Allow");
    await sees("Real tokens of Google Workspace");
    const scopes = page.locator("dt", { hasText: "Scope" }).locator("+ dd");
    expect(await scopes.textContent()).toContain("drive.readonly");
    expect(await scopes.textContent()).not.toContain("gmail");
    await click("Revoke access token");
    await sees("Revoked at the vendor (grant)");
    await shot("google-workspace-revoked");
  });

  it("names an environment at Microsoft, and sees how to disconnect, on a telephone", async () => {
    await open(360);
    await openVendor("Microsoft Agent 365");
    await page.getByLabel("Environment id").fill("not one");
    await connect();
    await sees("invalid_request");
    await shot("microsoft-agent365-misfit");
    await page.getByLabel("Tenant").selectOption("Ready organization");
    await connect();
    await signIn("operator");
    await sees("Real tokens of Microsoft Agent 365");
    await click("Revoke refresh token");
    await sees("myapps.microsoft.com");
    await shot("microsoft-agent365-help");
    // A user who is signed in already is still asked to choose an account, and may cancel.
    await connect();
    await click("Cancel");
    await sees("access_denied");
    expect(page.url()).toBe(`${broker.home}/connectors/microsoft-agent365`);
  });

  it("keeps the tokens of two vendors apart", async () => {
    await open(1280);
    for (const name of ["GitHub", "Slack"]) {
      await openVendor(name);
      await connect();
      await signIn();
      await click("Allow");
      await sees(`Real tokens of ${name}`);
    }
    await openVendor("GitHub");
    await sees("Real tokens of GitHub");
    await click("Refresh");
    await sees("Refreshed: a new access token arrived");
    const token = page.locator("dt", { hasText: "Access token" }).locator("+ dd code");
    expect(await token.textContent()).toMatch(/^gh\w_/);
    await shot("two-vendors");
  });
});
