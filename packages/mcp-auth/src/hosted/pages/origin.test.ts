/** The Origin that the pages of links take: their own, and the one browsers send without a referrer. */
import { shared } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { SEVERAL } from "../../testing/environments.ts";
import { openTestApp } from "../../testing/test-app.ts";

const OWN = SEVERAL.DEPLOYMENT_URL;
const PAGES = ["/connections", `/connect/${"A".repeat(43)}`];
const app = shared(() => openTestApp({ ...SEVERAL, ALLOWED_ORIGINS: "https://app.example" }));

const post = (path: string, headers: Record<string, string>): Promise<Response> =>
  app.ask(path, { method: "POST", body: new URLSearchParams({ action: "sign_out" }), headers });
const reason = async (answer: Response): Promise<boolean> => (await answer.text()).includes("foreign_origin");

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
