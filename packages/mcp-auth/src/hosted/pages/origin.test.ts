/** The Origin that the pages of links take: their own, and the one browsers send without a referrer. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "@oauth-broker/service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp, type McpApp } from "../../app.ts";
import { systemClock } from "@oauth-broker/oauth-core";
import { loadSettings } from "../../config.ts";
import { openStorage, type Storage } from "../../storage.ts";
import { SEVERAL } from "../../testing/environments.ts";

const OWN = SEVERAL.DEPLOYMENT_URL;
const PAGES = ["/connections", `/connect/${"A".repeat(43)}`];
let folder: string;
let storage: Storage;
let app: McpApp;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "linking-origin-"));
  const log = createLog({ write: () => undefined });
  const environment = { ...SEVERAL, DATA_DIR: folder, ALLOWED_ORIGINS: "https://app.example" };
  storage = await openStorage({ now: systemClock, log, environment: { DATA_DIR: folder } });
  app = createApp({ name: "test", version: "1", tools: [] }, loadSettings(environment), {
    now: systemClock,
    log,
    storage,
  });
});
afterAll(async () => {
  await app.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

const post = async (path: string, headers: Record<string, string>): Promise<Response> => {
  const body = new URLSearchParams({ action: "sign_out" });
  return app.app.request(OWN + path, { method: "POST", body, headers: { host: new URL(OWN).host, ...headers } });
};
const reason = async (answer: Response): Promise<boolean> => (await answer.text()).includes("foreign_host");

it.each(PAGES)("bar#RS-7 %s takes its own Origin and none, and no other site's", async (path) => {
  for (const headers of [{}, { origin: OWN }, { origin: "null" }]) {
    expect(await reason(await post(path, headers)), JSON.stringify(headers)).toBe(false);
  }
  for (const origin of ["https://evil.example", "https://app.example", "", `${OWN}.evil.example`]) {
    const answer = await post(path, { origin });
    expect([answer.status, await reason(answer)], origin).toEqual([403, true]);
  }
  expect((await post(path, { origin: "null", "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await post(path, { host: "evil.example", origin: "null" })).status).toBe(403);
});

it("bar#RS-7 no other path takes the Origin of no site", async () => {
  for (const path of ["/authorize", "/token", "/revoke", "/mcp", "/callback", "/vendors/slack/callback"]) {
    expect((await post(path, { origin: "null" })).status, path).toBe(403);
  }
});
