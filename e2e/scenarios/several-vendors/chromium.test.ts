/**
 * The pages of links in a real browser: on a phone, by keyboard, in two tabs and with Back, in a
 * frame, and over https. What needs no browser is tested beside the pages.
 */
import { shared, startTlsFront, type TlsFront } from "@oauth-broker/oauth-core/testing";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { freePort } from "../../support/free-port.ts";
import { expectFit, openPage } from "../../support/pages/open-page.ts";
import { type SeveralVendors, startSeveralVendors } from "../../support/several-vendors/harness.ts";
import { connectLinkingClient, type LinkingClient } from "../../support/several-vendors/client.ts";

describe.skipIf(CHROMIUM === undefined)("the pages of links in Chromium", () => {
  let harness: SeveralVendors;
  let front: TlsFront;
  const browser = shared(connectChromium);
  /** Of `user`; it shows no URLs, so that each comes back as text. */
  let user: LinkingClient;

  beforeAll(async () => {
    harness = await startSeveralVendors({
      fronts: async (port) => {
        front = await startTlsFront(port);
        return [front.url];
      },
    });
    user = await connectLinkingClient(harness, { era: "modern", showsUrls: false });
  });
  afterAll(async () => {
    await user.close();
    expect(harness.seenTokens()).toEqual([]);
    await harness.close();
    await front.close();
  });

  /** The URL that the user is asked to open, at a vendor that is not connected. */
  async function ticket(): Promise<string> {
    const page = await user.browser.open("/connections");
    if (page.html.includes("Disconnect chat<")) await user.browser.press(page, "disconnect", { vendor: "chat" });
    return (await user.call("chat_account")).text.split("\n").at(-1) ?? "";
  }

  /** A fresh browser; everything the server sends it is kept. */
  async function open(options: BrowserContextOptions = {}) {
    const opened = await openPage(browser, { isRefused: true, ...options });
    const { context } = opened;
    const bodies: Promise<unknown>[] = [];
    context.on("response", (response) => {
      if (![harness.url, front.url].some((own) => response.url().startsWith(own))) return;
      const kept = response.allHeaders().then(async (headers) => {
        const isPage = response.status() < 300 || response.status() >= 400;
        const text = isPage ? await response.text().catch(() => "") : "";
        harness.keep([response.url(), ...Object.values(headers), text].join("\n"));
      });
      bodies.push(kept.catch(() => undefined));
    });
    const close = async (): Promise<void> => {
      await Promise.all(bodies);
      await context.close();
    };
    return { ...opened, close };
  }

  /** At an OpenID provider, without a pointer. */
  async function agree(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Continue as Sample user" }).press("Enter");
    await page.getByRole("button", { name: "Allow" }).press("Enter");
  }

  /** A fresh browser in which the user follows the link, signs in, and is asked. */
  async function openAsked(options?: BrowserContextOptions) {
    const url = await ticket();
    const opened = await open(options);
    await opened.page.goto(url);
    await agree(opened.page);
    await opened.page.getByRole("heading", { name: "Connect chat?" }).waitFor();
    return { url, ...opened };
  }

  const focused = (page: Page): Promise<unknown> => page.evaluate("document.activeElement.textContent.trim()");
  const shoot = (page: Page, name: string): Promise<void> => takeScreenshot(page, `links/${name}`);

  it("lead from the link to the connection by keyboard alone, and fit a telephone", async () => {
    const telephone = { viewport: { width: 360, height: 740 }, colorScheme: "dark" } as const;
    const { url, page, complaints, close } = await openAsked(telephone);
    await page.getByText("user@sandbox.example").waitFor();
    await expectFit(page);
    await shoot(page, "connect");
    await page.reload();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Continue to chat");
    await page.keyboard.press("Enter");
    await agree(page);
    await page.getByRole("status").getByText("chat is connected").waitFor();
    await expectFit(page);
    await shoot(page, "connections");
    expect(new URL(page.url()).pathname).toBe("/connections");
    expect((await user.call("chat_account")).isError).toBe(false);
    await page.goto(url);
    await page.getByRole("heading", { name: "This link does not work any more" }).waitFor();
    await expectFit(page);
    await shoot(page, "gone");
    expect(complaints).toEqual([]);
    await close();
  });

  it("spend a link once, in one of two tabs, and say so in the other and after Back", async () => {
    const { url, context, page, close } = await openAsked();
    const second = await context.newPage();
    await second.goto(url);
    await page.getByRole("button", { name: "Continue to chat" }).click();
    await agree(page);
    await page.getByText("chat is connected").waitFor();
    await second.getByRole("button", { name: "Continue to chat" }).click();
    await second.getByRole("heading", { name: "This link does not work any more" }).waitFor();
    await page.bringToFront();
    for (let steps = 0; steps < 6 && page.url() !== url; steps += 1) await page.goBack();
    await page.getByRole("heading", { name: "This link does not work any more" }).waitFor();
    expect(page.url()).toBe(url);
    await close();
  });

  describe("under attack", () => {
    it("bar#AS-7 bar#LK-7 clickjacking: no other origin frames the pages or posts the forms", async () => {
      const { url, context, page, close } = await openAsked();
      const [form = ""] = /<form[\s\S]*?<\/form>/.exec(await page.content()) ?? [];
      const { pathname } = new URL(url);
      // Another port of the same host: for cookies the same site.
      const elsewhere = `http://127.0.0.1:${await freePort()}/`;
      const stolen = form.replace(`action="${pathname}"`, `action="${url}"`);
      await context.route(elsewhere, (route) =>
        route.fulfill({
          contentType: "text/html",
          body: `<iframe src="${url}"></iframe><iframe src="${harness.url}/connections"></iframe>${stolen}`,
        }),
      );
      await page.goto(elsewhere);
      expect(page.frames()).toHaveLength(3);
      for (const frame of page.frames().slice(1)) expect(await frame.locator("form").count()).toBe(0);
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.url() === url && response.request().method() === "POST"),
        page.getByRole("button", { name: "Continue to chat" }).click(),
      ]);
      expect(answer.status()).toBe(403);
      await page.goto(url);
      await page.getByRole("heading", { name: "Connect chat?" }).waitFor();
      await close();
    });

    it("bar#LK-7 clickjacking: without the headers another origin frames the page (twin)", async () => {
      const { url, context, page, close } = await openAsked();
      await context.route(url, async (route) => {
        const answer = await route.fetch();
        const headers = { ...answer.headers(), "content-security-policy": "", "x-frame-options": "" };
        await route.fulfill({ response: answer, headers });
      });
      const elsewhere = `http://127.0.0.1:${await freePort()}/`;
      await context.route(elsewhere, (route) =>
        route.fulfill({ contentType: "text/html", body: `<iframe src="${url}"></iframe>` }),
      );
      await page.goto(elsewhere);
      const framed = page.frameLocator("iframe").getByRole("button", { name: "Continue to chat" });
      await framed.waitFor();
      expect(await framed.count()).toBe(1);
      await close();
    });
  });

  it("over https keep the sign-in in a cookie of this host alone, and link with it", async () => {
    await harness.restart({ DEPLOYMENT_URL: front.url });
    const { context, page, complaints, close } = await open({ ignoreHTTPSErrors: true });
    await page.goto(`${front.url}/connections`);
    await page.getByRole("heading", { name: "Sign in to see your connections" }).waitFor();
    await expectFit(page);
    await shoot(page, "sign-in");
    await page.getByRole("button", { name: "Continue to home" }).click();
    await agree(page);
    await page.getByRole("heading", { name: "Your connections" }).waitFor();
    const cookies = await context.cookies(`${front.url}/connections`);
    expect(cookies.filter(({ name }) => name.includes("sign-in"))).toEqual([
      expect.objectContaining({
        name: "__Host-sign-in",
        domain: "127.0.0.1",
        path: "/",
        secure: true,
        httpOnly: true,
        sameSite: "Lax",
      }),
    ]);
    // Made before, at the address that was http: of this user's links none is lost.
    const disconnect = page.getByText("Disconnect chat", { exact: true });
    if (await disconnect.isVisible()) {
      await disconnect.click();
      await page.getByRole("button", { name: "Yes, disconnect chat" }).click();
      await page.getByRole("status").getByText("chat is disconnected").waitFor();
    }
    await page.getByRole("button", { name: "Connect chat" }).click();
    await agree(page);
    await page.getByRole("status").getByText("chat is connected").waitFor();
    expect(new URL(page.url()).origin).toBe(front.url);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    expect((await context.cookies(front.url)).filter(({ name }) => name.includes("sign-in"))).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });
});
