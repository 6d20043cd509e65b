/**
 * A hosted server at the GitHub simulator with a connected user, and requests to it written out:
 * for tests that send what no client library would. After each of their tests the user's next call
 * must work.
 */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { postWhoami } from "./client.ts";
import { createMcpPlatform } from "./platform.ts";
import { serveTemplate } from "./in-process.ts";
import { hostedEnvironment, PLATFORM_CALLBACK } from "./process.ts";
import { plantAll, startGitHubVendor } from "./vendor.ts";
import { challengeOf, encode, type Form, send } from "../broker/platform.ts";

/** rfc7636 appendix B. */
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

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

export type HostedHarness = Awaited<ReturnType<typeof startHostedHarness>>;
async function startHostedHarness() {
  const vendor = await startGitHubVendor();
  const server = await serveTemplate({ ...(await hostedEnvironment()), ...vendor.env });
  const platform = await createMcpPlatform(server.url);
  const tokens = await platform.connect();
  const post = async (path: string, members: Form | string, headers: Readonly<Record<string, string>> = {}) => {
    const body = typeof members === "string" ? members : encode({ client_id: "platform", ...members }).toString();
    const type = { "content-type": "application/x-www-form-urlencoded" };
    return send(`${server.url}${path}`, { method: "POST", body, headers: { ...type, ...headers } });
  };
  return {
    vendor,
    server,
    platform,
    /** The tokens of the user `user`. */
    tokens,
    /** Sends a form, with the platform's client id; a text is sent unchanged. */
    post,
    /** A valid request with these members changed. */
    authorize: async (members: Form) =>
      send(`${server.url}/authorize?${encode({ ...AUTHORIZE, ...members }).toString()}`),
  };
}

/** A valid request. */
export const AUTHORIZE = {
  response_type: "code",
  client_id: "platform",
  redirect_uri: PLATFORM_CALLBACK,
  state: "a state",
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: "S256",
};
