/**
 * Twin of routes.test.ts: if any Host were accepted, a site whose name resolves to loopback could
 * sign in as the administrator.
 */
import * as server from "@oauth-broker/oauth-core/authorization-server";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { firstPage, openTestPlatform } from "../testing/test-visitor.ts";

it("a rebound name is served the pages, and its script can use them", async () => {
  weaken(server, () => ({ isOwnHost: () => true }));
  const test = await openTestPlatform("http://127.0.0.1:8789");
  const { app } = test.platform;
  const site = "http://rebound.example:8789";
  const { cookie, csrf } = await firstPage(test.platform, `${site}/`);
  const body = new URLSearchParams({ csrf, user: "admin" });
  const answer = await app.request(`${site}/sign-in`, { method: "POST", headers: { cookie }, body });
  expect(answer.headers.get("location")).toBe("/connectors");
  await test.close();
});
