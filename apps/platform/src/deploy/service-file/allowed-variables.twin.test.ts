/**
 * The attack of deploy.test.ts without the list: the author's code receives every variable that its
 * service.yaml names.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { afterEach, expect, it } from "vitest";
import { type DeployFixture, openDeployFixture } from "../../testing/run-deploy.ts";
import { greedyProject, readStolen } from "../../testing/server-project.ts";
import * as variables from "./allowed-variables.ts";

let fixture: DeployFixture;
afterEach(() => fixture.close());

it("without the list, the deployer's credentials are in the server's environment", async () => {
  weaken(variables, () => ({ isAllowed: () => true }));
  fixture = await openDeployFixture(greedyProject(), { AWS_SECRET_ACCESS_KEY: "canary-of-the-deployer" });
  await fixture.init();
  await fixture.run().outcome;
  expect(readStolen(fixture.folder)).toContain("HARMLESS=canary-of-the-deployer");
});
