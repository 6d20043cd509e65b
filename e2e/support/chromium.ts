/**
 * A real browser: the one CHROMIUM_PATH names, or Debian's. Its headless shell is Chromium without
 * windows, and opens a page at a quarter of the CPU.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

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
export const BROWSER_MS = 60_000;

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the Chromium of this run; empty without one. Set by chromium-of-this-run.ts. */
    readonly chromium: string;
  }
}

/** The Chromium that all test files of a run share: `close` ends only what this caller opened. */
export async function connectChromium(): Promise<Browser> {
  // Not at the top: the tour takes its screenshots outside a test.
  const { inject } = await import("vitest");
  return chromium.connect(inject("chromium"));
}

/** @returns the path for a screenshot of that name, in a folder that is created when needed */
export function screenshotPath(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  return join(folder, `${name}.png`);
}
