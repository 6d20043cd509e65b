/** Vitest's global set-up: one Chromium for all test files, which open contexts in it. */
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { CHROMIUM } from "../chromium.ts";

/** @returns what ends it */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  if (CHROMIUM === undefined) {
    provide("chromium", "");
    return async () => undefined;
  }
  // Its own sandbox needs rights that containers and root do not have; it only visits this machine.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  const server = await chromium.launchServer({ executablePath: CHROMIUM, args, host: "127.0.0.1" });
  provide("chromium", server.wsEndpoint());
  return async () => server.close();
}
