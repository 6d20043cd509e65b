/**
 * Two processes of one deployment on one table and one key service: each knows what the other does,
 * a vendor that rotates is called once for a caller of either process, no user gets another user's
 * account, and an outage spends nothing. One is killed at the end. Crashes, lost answers and
 * outages at every moment: the simulator. The table and the key service under each fault: token-store.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { type Item, openTable } from "../../support/aws/mcp.ts";
import { type Answer, send } from "../../support/broker/platform.ts";
import { freePort } from "../../support/free-port.ts";
import { postAt, postWhoami, postWhoamiAt } from "../../support/mcp/client.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { createMcpPlatform, errorOf, type McpPlatform, type PlatformTokens } from "../../support/mcp/platform.ts";
import { type Environment, hostedEnvironment, type McpServer, startMcpServer } from "../../support/mcp/process.ts";
import { type GitHubVendor, plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";

/** Longer than the lifetime of GitHub's tokens. */
const NINE_HOURS = 9 * 3600;
const CALLS = 12;
const CALLS_OF_ONE_USER = 6;

let aws: AwsHarness;
let vendor: GitHubVendor;
let env: Environment;
let first: McpServer;
let second: McpServer;
let secondPort: string;
let platform: McpPlatform;
let user: PlatformTokens;
let operator: PlatformTokens;

beforeAll(async () => {
  aws = await startAws();
  vendor = await startGitHubVendor({ expiringTokens: true });
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
  await vendor.close();
  await aws.close();
});
afterEach(() => {
  aws.proxy.set({});
  aws.kms.fault(undefined);
  vi.unstubAllEnvs();
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
    Array.from({ length: 4 }, async (_, index) =>
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

/** Refused as an outage, which says when to come again. */
function expectOutage({ status, headers, text }: Pick<Answer, "status" | "headers" | "text">, reason: string): void {
  expect([status, JSON.parse(text)], text).toEqual([
    503,
    expect.objectContaining({ error: "temporarily_unavailable", reason }),
  ]);
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
}

it("a table that is away is a 503 with Retry-After; session and code stay as they were", async () => {
  const returned = await platform.toVendor();
  const post = async (path: string, members: Readonly<Record<string, string>>): Promise<Answer> =>
    send(`${first.url}${path}`, {
      method: "POST",
      body: new URLSearchParams({ client_id: "platform", ...members }),
    });
  aws.proxy.set({ down: true });
  const [redeeming, ...during] = await Promise.all([
    errorOf(platform.redeem(returned)),
    whoami(0, user),
    post("/token", { grant_type: "refresh_token", refresh_token: user.refreshToken }),
    post("/revoke", { token: user.accessToken }),
    send(`${first.url}/readyz`),
  ]);
  expect(redeeming).toBe("503 retry-after");
  for (const answer of during) expectOutage(answer, "store_unavailable");
  expect((await send(`${first.url}/healthz`)).status).toBe(200);
  aws.proxy.set({});
  expect([(await whoami(0, user)).status, (await send(`${first.url}/readyz`)).status]).toEqual([200, 200]);
  for (const tokens of [await platform.refresh(user.refreshToken), await platform.redeem(returned)]) {
    expect((await whoami(1, tokens)).status).toBe(200);
  }
});

it("bar#AS-4 a table that loses first answers gives one session and one vendor request", async () => {
  const returned = await platform.toVendor();
  const asked = (): number => vendor.github.requests().filter(({ path }) => path.endsWith("/access_token")).length;
  const before = asked();
  aws.proxy.set({ loseAnswers: "conditional-writes-once" });
  const tokens = await platform.redeem(returned);
  aws.proxy.set({});
  expect(asked() - before).toBe(1);
  expect((await whoami(1, tokens)).status).toBe(200);
});

it("a vendor that is down at /token is 503, and the same code works afterwards", async () => {
  const returned = await platform.toVendor();
  vendor.github.faultNext("/login/oauth/access_token", { kind: "answer", status: 503 });
  expect(await errorOf(platform.redeem(returned))).toBe("503 retry-after");
  expect((await whoami(0, await platform.redeem(returned))).status).toBe(200);
});

it("a key service that is away at the start is a 503 there, and nothing elsewhere", async () => {
  for (const [name, value] of Object.entries(aws.tableEnv)) vi.stubEnv(name, value);
  aws.kms.fault({ kind: "unavailable" });
  const port = String(await freePort());
  const sister = await serveTemplate({ ...env, PORT: port });
  const call = async () => postWhoamiAt(port, first, user.accessToken);
  const ready = async () => send(`http://127.0.0.1:${port}/readyz`);
  for (const answer of await Promise.all([call(), ready()])) expectOutage(answer, "kms_unavailable");
  expect([(await whoami(0, user)).status, (await send(`${first.url}/readyz`)).status]).toEqual([200, 200]);
  aws.kms.fault(undefined);
  await expect.poll(async () => (await call()).status, { interval: 100 }).toBe(200);
  expect((await ready()).status).toBe(200);
  await sister.stop();
});

describe("bar#TS-3 bar#TS-7 a record that cannot be read", () => {
  const flip = (value = ""): string => `${value.slice(0, -3)}${value.endsWith("AAA") ? "BBB" : "AAA"}`;

  it.each<[string, (theirs: Item, own: Item) => object]>([
    ["changed", (_, { sealed_access_token: own }) => ({ sealed_access_token: { S: flip(own?.S) } })],
    [
      "another user's",
      ({ sealed_access_token, sealed_details, data_key }) => ({ sealed_access_token, sealed_details, data_key }),
    ],
  ])("(%s) is 503 token_unreadable and no account, and readable again it serves", async (_, changesOf) => {
    const table = openTable(aws);
    const [whole, theirs] = [await table.tokensOf("1"), await table.tokensOf("2")];
    await table.put({ ...whole, ...changesOf(theirs, whole) });
    expectOutage(await whoami(0, user), "token_unreadable");
    expect((await whoami(0, operator)).text).toContain("sample-operator");
    await table.put(whole);
    expect((await whoami(0, user)).text).toContain("sample-user");
  });
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
