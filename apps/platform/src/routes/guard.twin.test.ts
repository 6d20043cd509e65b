/**
 * Twin of routes.test.ts: if forms were not bound to the browser they were shown to, another site
 * could post them for the user.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openTestPlatform, type TestPlatform, type Visitor } from "../testing/test-visitor.ts";

vi.mock("@oauth-broker/oauth-core/server", async (original) => ({
  ...(await original<typeof import("@oauth-broker/oauth-core/server")>()),
  isFormToken: () => true,
}));

let test: TestPlatform;
let administrator: Visitor;

beforeAll(async () => {
  test = await openTestPlatform();
  await test.desk.addConnector("sample", {});
  administrator = test.visitor();
  await administrator.signIn("admin");
});
afterAll(() => test.close());

it("a form without its token changes an administrator's settings", async () => {
  const forged = {
    authentication: "oauth_2_1",
    registration: "broker",
    vendorOrIssuer: "github",
    clientId: "attacker",
  };
  expect((await administrator.post("/connectors/sample/settings", forged)).status).toBe(303);
  expect((await test.desk.connectors.find("sample"))?.settings.clientId).toBe("attacker");
});
