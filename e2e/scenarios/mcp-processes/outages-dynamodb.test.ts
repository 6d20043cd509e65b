/**
 * A hosted server on a table and a KMS key that go away and come back: every answer is a 503 with
 * Retry-After, nothing is lost, and the same requests succeed afterwards. Unreadable rows have
 * their own error, and the table holds nothing readable.
 */
import { soonerThan } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Faults } from "@oauth-broker/simulators/aws";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { freePort } from "../../support/free-port.ts";
import { openTable, type TableHand } from "../../support/aws/mcp.ts";
import { postWhoami, postWhoamiAt } from "../../support/mcp/client.ts";
import { createMcpPlatform, errorOf, type McpPlatform, type PlatformTokens } from "../../support/mcp/platform.ts";
import {
  type Environment,
  hostedEnvironment,
  type McpServer,
  runMcpCommand,
  startMcpServer,
} from "../../support/mcp/process.ts";
import { type GitHubVendor, plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { type Answer, send } from "../../support/broker/platform.ts";

/** The stores' own deadlines are seconds, the outages a minute. A busy machine may be late. */
const HANG_MS = 60_000;

let aws: AwsHarness;
let vendor: GitHubVendor;
let env: Environment;
let server: McpServer;
let platform: McpPlatform;
let table: TableHand;
let tokens: PlatformTokens;

beforeAll(async () => {
  aws = await startAws();
  vendor = await startGitHubVendor();
  env = { ...(await hostedEnvironment()), ...vendor.env, ...aws.tableEnv };
  server = await startMcpServer(env);
  platform = await createMcpPlatform(server.url);
  table = openTable(aws);
  tokens = await platform.connect();
});
afterEach(() => {
  aws.proxy.set({});
  aws.kms.fault(undefined);
});
afterAll(async () => {
  table.close();
  plantAll("live vendor token", vendor.github.liveTokens());
  await server.stop();
  const { found, items } = await aws.scan();
  expect([found, items > 5]).toEqual([[], true]);
  await vendor.close();
  await aws.close();
});

const whoami = async (at = server.mcp) => postWhoami(at, tokens.accessToken);

function expectOutage({ status, headers, text }: Pick<Answer, "status" | "headers" | "text">, reason: string): void {
  expect([status, JSON.parse(text)], text).toEqual([
    503,
    expect.objectContaining({ error: "temporarily_unavailable", reason }),
  ]);
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
}

async function form(path: string, members: Readonly<Record<string, string>>): Promise<Answer> {
  return send(`${server.url}${path}`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "platform", ...members }),
  });
}

describe.each<[string, Faults]>([
  ["is down", { down: true }],
  ["does not answer", { hangMs: HANG_MS }],
  ["throttles every request", { throttleRate: 1 }],
])("a table that %s", (_, faults) => {
  it("is a 503 with Retry-After; session and vendor's code stay as good as they were", async () => {
    const { accessToken, refreshToken } = tokens;
    const returned = await platform.toVendor();
    aws.proxy.set(faults);
    // At once: each waits for the store's deadline.
    const asking = Promise.all([
      errorOf(platform.redeem(returned)),
      whoami(),
      form("/token", { grant_type: "refresh_token", refresh_token: refreshToken }),
      form("/revoke", { token: accessToken }),
      send(`${server.url}/readyz`),
    ]);
    const [redeeming, ...during] = await soonerThan(HANG_MS, asking);
    expect(redeeming).toBe("503 retry-after");
    for (const answer of during) expectOutage(answer, "store_unavailable");
    expect((await send(`${server.url}/healthz`)).status).toBe(200);
    aws.proxy.set({});
    expect((await whoami()).status).toBe(200);
    expect((await send(`${server.url}/readyz`)).status).toBe(200);
    tokens = await platform.refresh(refreshToken);
    expect((await whoami()).status).toBe(200);
    tokens = await platform.redeem(returned);
    expect((await whoami()).status).toBe(200);
  });
});

it("bar#AS-4 a table that loses first answers gives one session and one vendor request", async () => {
  const returned = await platform.toVendor();
  const asked = (): number => vendor.github.requests().filter(({ path }) => path.endsWith("/access_token")).length;
  const before = asked();
  aws.proxy.set({ loseAnswers: "conditional-writes-once" });
  tokens = await platform.redeem(returned);
  aws.proxy.set({});
  expect(asked() - before).toBe(1);
  expect((await whoami()).status).toBe(200);
});

it("a vendor that is down at /token is 503, and the same code works afterwards", async () => {
  const returned = await platform.toVendor();
  vendor.github.faultNext("/login/oauth/access_token", { kind: "answer", status: 503 });
  expect(await errorOf(platform.redeem(returned))).toBe("503 retry-after");
  tokens = await platform.redeem(returned);
  expect((await whoami()).status).toBe(200);
});

describe("a key service that is down", () => {
  it.each(["unavailable", "hang", "drop"] as const)(
    "(%s) at start: the server runs, says 503, and serves the same sessions once it is back",
    async (kind) => {
      aws.kms.fault({ kind });
      const port = String(await freePort());
      const sister = await startMcpServer({ ...env, PORT: port });
      const call = async () => postWhoamiAt(port, server, tokens.accessToken);
      const asking = Promise.all([call(), send(`http://127.0.0.1:${port}/readyz`)]);
      const [during, readiness] = await soonerThan(HANG_MS, asking);
      expectOutage(during, "kms_unavailable");
      expectOutage(readiness, "kms_unavailable");
      aws.kms.fault(undefined);
      await expect.poll(async () => (await call()).status, { interval: 100 }).toBe(200);
      expect((await send(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      await sister.stop();
    },
  );

  it("does not affect a process that has the data key", async () => {
    aws.kms.fault({ kind: "unavailable" });
    expect((await whoami()).status).toBe(200);
    expect((await send(`${server.url}/readyz`)).status).toBe(200);
  });

  it("and does not know our key stops the start: exit 1 with a message, and nothing is served", async () => {
    const wrong = `${aws.keyArn.slice(0, -4)}0000`;
    const ended = await runMcpCommand({ ...env, PORT: "0", TOKEN_ENCRYPTION_KMS_KEY_ID: wrong }, server.folder);
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toMatch(/key/i);
    expect(ended.stderr.trim().split("\n").length).toBeLessThan(4);
  });
});

describe("bar#TS-3 bar#TS-7 a record that cannot be read", () => {
  it.each<[string, string, (value: string) => string]>([
    ["flipped", "sealed_access_token", (value) => `${value.slice(0, -3)}${value.endsWith("AAA") ? "BBB" : "AAA"}`],
    ["cut short", "sealed_access_token", (value) => value.slice(0, 20)],
    ["empty", "sealed_access_token", () => ""],
    ["of another version", "sealed_access_token", (value) => `B${value.slice(1)}`],
    ["under an unknown key", "data_key", (value) => `${value.slice(0, -8)}AAAAAAA=`],
  ])("(%s) is 503 token_unreadable, and readable again it serves", async (_, attribute, change) => {
    const whole = await table.tokensOf("1");
    await table.change(whole, attribute, change);
    expectOutage(await whoami(), "token_unreadable");
    await table.put(whole);
    expect((await whoami()).status).toBe(200);
  });

  it("(another user's) is 503 token_unreadable, and gives no account", async () => {
    const other = await platform.connect("operator");
    const [whole, theirs] = [await table.tokensOf("1"), await table.tokensOf("2")];
    for (const attribute of ["sealed_access_token", "sealed_details", "data_key"]) {
      await table.change(await table.tokensOf("1"), attribute, () => theirs[attribute]?.S ?? "");
    }
    expectOutage(await whoami(), "token_unreadable");
    expect((await postWhoami(server.mcp, other.accessToken)).text).toContain("sample-operator");
    await table.put(whole);
    expect((await whoami()).text).toContain("sample-user");
  });
});
