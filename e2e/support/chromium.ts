/** A real browser: Debian's Chromium, or the one CHROMIUM_PATH names. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/**
 * Undefined without a browser: its tests then count as skipped, and `npm test` says how to install
 * one.
 */
export const CHROMIUM: string | undefined = [process.env["CHROMIUM_PATH"] ?? "", "/usr/bin/chromium"].find(
  (path) => path !== "" && existsSync(path),
);

export const NO_CHROMIUM =
  "No Chromium here: set CHROMIUM_PATH, or on Debian: apt-get install -y chromium fonts-liberation";

export async function launchChromium(executablePath: string): Promise<Browser> {
  // Its own sandbox needs rights that containers and root do not have; it only visits this machine.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** @returns the path for a screenshot of that name, in a folder that is created when needed */
export function screenshotPath(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  return join(folder, `${name}.png`);
}
