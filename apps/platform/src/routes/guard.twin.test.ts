/**
 * Twin of routes.test.ts: if forms were not bound to the browser they were shown to, another site
 * could post them for the user.
 */
import * as server from "@oauth-broker/oauth-core/authorization-server";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { openTestPlatform } from "../testing/test-visitor.ts";

it("a form without its token changes an administrator's settings", async () => {
  weaken(server, () => ({ isFormToken: () => true }));
  const test = await openTestPlatform();
  await test.desk.addConnector("sample", {});
  const administrator = test.visitor();
  await administrator.signIn("admin");
  const forged = {
    authentication: "oauth_2_1",
    registration: "broker",
    vendorOrIssuer: "github",
    clientId: "attacker",
  };
  expect((await administrator.post("/connectors/sample/settings", forged)).status).toBe(303);
  expect((await test.desk.connectors.find("sample"))?.settings.clientId).toBe("attacker");
  await test.close();
});
