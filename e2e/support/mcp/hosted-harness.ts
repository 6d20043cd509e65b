/**
 * A hosted server at the GitHub simulator with a connected user, for tests that send what no client
 * library would. After each of their tests the user's next call must work.
 */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { postWhoami } from "./client.ts";
import { createMcpPlatform } from "./platform.ts";
import { serveTemplate } from "./in-process.ts";
import { hostedEnvironment } from "./process.ts";
import { plantAll, startGitHubVendor } from "./vendor.ts";

/** @returns the harness, once the file's tests run */
export function useHostedHarness(): () => HostedHarness {
  let harness: HostedHarness | undefined;
  const current = (): HostedHarness => {
    if (harness === undefined) throw new Error("the harness is not set up yet");
    return harness;
  };
  beforeAll(async () => {
    harness = await startHostedHarness();
  });
  afterEach(async () => {
    const { server, tokens } = current();
    expect((await postWhoami(server.mcp, tokens.accessToken)).status).toBe(200);
  });
  afterAll(async () => {
    const { vendor, server } = current();
    plantAll("live vendor token", vendor.github.liveTokens());
    await server.stop();
    await vendor.close();
  });
  return current;
}

type HostedHarness = Awaited<ReturnType<typeof startHostedHarness>>;
async function startHostedHarness() {
  const vendor = await startGitHubVendor();
  const server = await serveTemplate({ ...(await hostedEnvironment()), ...vendor.env });
  const platform = await createMcpPlatform(server.url);
  /** The tokens of the user `user`. */
  const tokens = await platform.connect();
  return { vendor, server, platform, tokens };
}
