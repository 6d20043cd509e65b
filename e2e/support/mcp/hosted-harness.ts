/**
 * A hosted server at the GitHub simulator with a connected user, for tests that send what no client
 * library would. After each of their tests the user's next call must work.
 */
import { afterEach, expect } from "vitest";
import { shared } from "../shared.ts";
import { postWhoami } from "./client.ts";
import { createMcpPlatform } from "./platform.ts";
import { serveTemplate } from "./in-process.ts";
import { hostedEnvironment } from "./process.ts";
import { plantAll, startGitHubVendor } from "./vendor.ts";

/** For all tests of a file. */
export function sharedHostedServer() {
  const harness = shared(startHostedHarness);
  afterEach(async () => {
    expect((await postWhoami(harness.server.mcp, harness.tokens.accessToken)).status).toBe(200);
  });
  return harness;
}

async function startHostedHarness() {
  const vendor = await startGitHubVendor();
  const server = await serveTemplate({ ...(await hostedEnvironment()), ...vendor.env });
  const platform = await createMcpPlatform(server.url);
  return {
    vendor,
    server,
    platform,
    /** The tokens of the user `user`. */
    tokens: await platform.connect(),
    close: async () => {
      plantAll("live vendor token", vendor.github.liveTokens());
      await server.stop();
      await vendor.close();
    },
  };
}
