/**
 * A real browser: the one CHROMIUM_PATH names, or Debian's. Its headless shell is Chromium without
 * windows, and opens a page at a quarter of the CPU.
 */
import { patience } from "@oauth-broker/oauth-core/testing";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Browser, chromium, type Page, type PageScreenshotOptions } from "playwright-core";
import { ROOT } from "./paths.ts";

/**
 * Undefined without a browser: its tests then count as skipped, and `npm test` says how to install
 * one.
 */
export const CHROMIUM: string | undefined = [
  process.env["CHROMIUM_PATH"] ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
].find((path) => path !== "" && existsSync(path));

export const NO_CHROMIUM =
  "No Chromium here: set CHROMIUM_PATH, or on Debian: apt-get install -y chromium-headless-shell fonts-liberation";

/** How long a step in the browser may take on a busy machine: for `setDefaultTimeout`. */
export const BROWSER_MS: number = patience(6_000);

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the Chromium of this run; empty without one. Set by chromium-of-this-run.ts. */
    readonly chromium: string;
  }
}

/** The Chromium that all test files of a run share: `close` ends only what this caller opened. */
export async function connectChromium(): Promise<Browser> {
  // Not at the top: the set-up of a run imports this file outside a test.
  const { inject } = await import("vitest");
  return chromium.connect(inject("chromium"));
}

/** The folder for screenshots; empty: none is taken. A relative path starts at the root. */
const SCREENSHOTS = process.env["SCREENSHOTS"] ?? "";

/**
 * With `SCREENSHOTS=FOLDER`, a PNG of a page at `FOLDER/NAME.png`; the whole page unless a part of
 * it is asked for. Chromium now and then refuses one capture and takes the same a moment later,
 * so a refusal is tried again.
 *
 * @param name may begin with a folder, e.g. `consent/desk`
 * @throws the browser's error, when it refuses three times or fails otherwise
 */
export async function takeScreenshot(
  page: Page,
  name: string,
  part: PageScreenshotOptions = { fullPage: true },
): Promise<void> {
  if (SCREENSHOTS === "") return;
  for (let attempt = 1; ; attempt++) {
    try {
      await page.screenshot({ ...part, path: resolve(ROOT, SCREENSHOTS, `${name}.png`) });
      return;
    } catch (error) {
      if (attempt === 3 || !String(error).includes("Unable to capture screenshot")) throw error;
      await setTimeout(500);
    }
  }
}
