/**
 * Two processes of one deployment on one table and one key service: each knows what the other does,
 * and a vendor that rotates is called once for a caller of either process. One is killed at the end.
 * Crashes, lost answers and outages at every moment: the simulator. A session, a code and a token
 * under each outage: mcp-auth. The table and the key service under each fault: token-store.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { startAws } from "../../support/aws/aws.ts";
import { freePort } from "../../support/free-port.ts";
import { postWhoami, postWhoamiAt } from "../../support/mcp/client.ts";
import { createMcpPlatform, type McpPlatform, type PlatformTokens } from "../../support/mcp/platform.ts";
import { type Environment, hostedEnvironment, type McpServer, startMcpServer } from "../../support/mcp/process.ts";
import { plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

/** Longer than the lifetime of GitHub's tokens. */
const NINE_HOURS = 9 * 3600;
const CALLS = 12;
const CALLS_OF_ONE_USER = 6;

const aws = shared(() => startAws());
const vendor = shared(() => startGitHubVendor({ expiringTokens: true }));
let env: Environment;
let first: McpServer;
let second: McpServer;
let secondPort: string;
let platform: McpPlatform;
let user: PlatformTokens;
let operator: PlatformTokens;

beforeAll(async () => {
  env = { ...(await hostedEnvironment()), ...vendor.env, ...aws.tableEnv };
  secondPort = String(await freePort());
  // At the same moment, on an empty table: one of them creates the server key.
  [first, second] = await Promise.all([startMcpServer(env), startMcpServer({ ...env, PORT: secondPort })]);
  platform = await createMcpPlatform(first.url);
});
afterAll(async () => {
  plantAll("live vendor token", vendor.github.liveTokens());
  await second.stop();
  const { found, items } = await aws.scan();
  expect([found, items > 5]).toEqual([[], true]);
});
beforeEach(async () => {
  [user, operator] = [await platform.connect("user"), await platform.connect("operator")];
});

/** At one process after the other. */
async function whoami(index: number, { accessToken }: PlatformTokens) {
  return index % 2 === 0 ? postWhoami(first.mcp, accessToken) : postWhoamiAt(secondPort, first, accessToken);
}

const refreshes = (): number =>
  vendor.github.requests().filter(({ body }) => body["grant_type"] === "refresh_token").length;

it("bar#RF-1 calls at once of a user whose vendor token has ended make one refresh", async () => {
  vendor.advance(NINE_HOURS);
  const before = refreshes();
  const answers = await Promise.all(Array.from({ length: CALLS_OF_ONE_USER }, async (_, index) => whoami(index, user)));
  const heard = answers.map(({ status, text }) => `${status} ${/sample-user/.exec(text)?.[0] ?? text}`);
  expect(new Set(heard)).toEqual(new Set(["200 sample-user"]));
  expect(refreshes() - before).toBe(1);
});

it("a session that was revoked at one has ended at the other", async () => {
  expect((await whoami(1, user)).status).toBe(200);
  await platform.revoke(user.refreshToken);
  expect([(await whoami(1, user)).status, (await whoami(1, operator)).status]).toEqual([401, 200]);
});

it("kill -9 of one during calls: those at the other are all answered, and flows go on", async () => {
  const returned = await platform.toVendor();
  const before = vendor.github.requests().length;
  const calls = Array.from({ length: 2 * CALLS }, async (_, index) => {
    const answer = whoami(index, user).catch(() => undefined);
    if (index === CALLS) first.signal("SIGKILL");
    return answer;
  });
  const heard = await Promise.all(calls);
  await first.exited();
  const ownAt = (process: number) =>
    heard.filter((_, index) => index % 2 === process).map((answer) => answer?.text.includes("sample-user") === true);
  expect(ownAt(1)).toEqual(Array.from({ length: CALLS }, () => true));
  expect(ownAt(0)).toContain(false);
  expect(vendor.github.requests().length - before).toBeLessThanOrEqual(2 * CALLS);

  first = await startMcpServer(env);
  const tokens = await platform.redeem(returned);
  for (const index of [0, 1]) expect((await whoami(index, tokens)).text).toContain("sample-user");
  await first.stop();
});
