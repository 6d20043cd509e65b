/** Vitest's global set-up: one Chromium for all test files, which open contexts in it. */
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { CHROMIUM, NO_CHROMIUM } from "../chromium.ts";

/**
 * The first two are Playwright's own, whose list this replaces. The others save a fifth of the CPU of a page: the
 * network gets no separate process, and a page of the same site is loaded into the frame of the last.
 */
const FEATURES =
  "CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies,NetworkServiceInProcess2,RenderDocument:level/crashed-frame";

/** @returns what ends it */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  if (CHROMIUM === undefined) {
    console.warn(NO_CHROMIUM);
    provide("chromium", "");
    return async () => undefined;
  }
  // Its own sandbox needs rights that containers and root do not have; it only visits this machine.
  const args = ["--no-sandbox", "--in-process-gpu", `--enable-features=${FEATURES}`];
  const server = await chromium.launchServer({ executablePath: CHROMIUM, args, host: "127.0.0.1" });
  provide("chromium", server.wsEndpoint());
  return async () => server.close();
}
