/**
 * The attack of deploy.test.ts with the list taken out: an author's code gets whatever its
 * service.yaml names.
 */
import { afterEach, expect, it, vi } from "vitest";
import { type DeployBench, openDeployBench } from "../../testing/run-deploy.ts";
import { greedyProject, readStolen } from "../../testing/server-project.ts";

vi.mock("./allowed-variables.ts", async (original) => ({
  ...(await original<typeof import("./allowed-variables.ts")>()),
  isAllowed: () => true,
}));

let bench: DeployBench;
afterEach(() => bench.close());

it("without the list, the deployer's credentials are in the server's environment", async () => {
  bench = await openDeployBench(greedyProject(), { AWS_SECRET_ACCESS_KEY: "canary-of-the-deployer" });
  await bench.init();
  await bench.run().outcome;
  expect(readStolen(bench.folder)).toContain("HARMLESS=canary-of-the-deployer");
});
