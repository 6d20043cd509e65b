/**
 * Two processes of one deployment on one table: each knows what the other does, a vendor that
 * rotates is called once for a caller of either process, and no user ever gets another user's
 * account.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { freePort } from "../../support/free-port.ts";
import { type McpAnswer, postAt, postWhoami, postWhoamiAt } from "../../support/mcp/client.ts";
import { createMcpPlatform, type McpPlatform, type PlatformTokens } from "../../support/mcp/platform.ts";
import { hostedEnvironment, type McpServer, startMcpServer } from "../../support/mcp/process.ts";
import { type GitHubVendor, plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";

/** Longer than the lifetime of GitHub's tokens. */
const NINE_HOURS = 9 * 3600;
// The table's engine answers all of them within the 2.5 s of the store, also on a busy machine.
const CALLS = 40;
const CALLS_OF_ONE_USER = 30;

let aws: AwsHarness;
let vendor: GitHubVendor;
let first: McpServer;
let second: McpServer;
let secondPort: string;
let platform: McpPlatform;
let user: PlatformTokens;
let operator: PlatformTokens;

beforeAll(async () => {
  aws = await startAws();
  vendor = await startGitHubVendor({ expiringTokens: true });
  const env = { ...(await hostedEnvironment()), ...vendor.env, ...aws.tableEnv };
  secondPort = String(await freePort());
  // At the same moment, on an empty table: one of them creates the server key.
  [first, second] = await Promise.all([startMcpServer(env), startMcpServer({ ...env, PORT: secondPort })]);
  platform = await createMcpPlatform(first.url);
});
afterAll(async () => {
  plantAll("live vendor token", vendor.github.liveTokens());
  await Promise.all([first.stop(), second.stop()]);
  const { found, items } = await aws.scan();
  expect([found, items > 5]).toEqual([[], true]);
  await vendor.close();
  await aws.close();
});
beforeEach(async () => {
  [user, operator] = [await platform.connect("user"), await platform.connect("operator")];
});

/** At one process after the other. */
async function whoami(index: number, { accessToken }: PlatformTokens): Promise<McpAnswer> {
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

it("bar#RS-8 mixed calls of two users at both answer each with their own account", async () => {
  const logins = ["sample-user", "sample-operator"];
  const calls = Array.from({ length: CALLS }, async (_, index) => {
    if (index === CALLS / 2) vendor.advance(NINE_HOURS);
    const { status, text } = await whoami(Math.floor(index / 2), index % 2 === 0 ? user : operator);
    return [status, ...logins.filter((login) => text.includes(login))].join(" ");
  });
  const heard = await Promise.all(calls);
  expect(heard).toEqual(heard.map((_, index) => `200 ${logins[index % 2]}`));
});

it("bar#AS-14 a refresh token that is presented at both at the same time has one successor", async () => {
  const form = { client_id: "platform", grant_type: "refresh_token", refresh_token: user.refreshToken };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams(form).toString();
  const ports = [new URL(first.url).port, secondPort];
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) =>
      postAt({ port: ports[index % 2] ?? "", url: first.url }, "/token", { headers, body }),
    ),
  );
  const heard = answers.map(({ status, text }) => {
    const { access_token: accessToken, refresh_token: refreshToken } = JSON.parse(text) as Record<string, string>;
    return { status, accessToken, refreshToken };
  });
  const refreshed = await platform.refresh(user.refreshToken);
  const { accessToken, refreshToken } = refreshed;
  expect(heard).toEqual(heard.map(() => ({ status: 200, accessToken, refreshToken })));
  expect([(await whoami(0, refreshed)).status, (await whoami(1, refreshed)).status]).toEqual([200, 200]);
});

it("a session that was revoked at one has ended at the other", async () => {
  expect((await whoami(1, user)).status).toBe(200);
  await platform.revoke(user.refreshToken);
  expect([(await whoami(1, user)).status, (await whoami(1, operator)).status]).toEqual([401, 200]);
});
