/** A page in a separate browser; a test reads what it visits and what it complains of. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { BROWSER_MS } from "../chromium.ts";
import { plantSecret } from "../secrets.ts";

interface OpenOptions extends BrowserContextOptions {
  /** A status of 4xx is expected: the browser's line about it does not fail the test. */
  readonly isRefused?: boolean;
}

/** Plants the codes that pass through the browser. */
export async function openPage(browser: Browser, { isRefused = false, ...options }: OpenOptions = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(BROWSER_MS);
  const visited: URL[] = [];
  const complaints: string[] = [];
  context.on("weberror", (error) => complaints.push(error.error().message));
  context.on("console", (message) => {
    const isOfRefusal = isRefused && /status of 4\d\d/.test(message.text());
    if (message.type() === "error" && !isOfRefusal) complaints.push(message.text());
  });
  context.on("request", (request) => {
    const url = new URL(request.url());
    plantSecret("code in the browser", url.searchParams.get("code"));
    if (request.isNavigationRequest()) visited.push(url);
  });
  return {
    context,
    page: await context.newPage(),
    /** Addresses of any page, redirects included. */
    visited,
    /** Errors of the browser, on any page. */
    complaints,
  };
}

/** Nothing is wider than the screen. */
export async function expectFit(page: Page): Promise<void> {
  const { width } = page.viewportSize() ?? { width: 0 };
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
}
