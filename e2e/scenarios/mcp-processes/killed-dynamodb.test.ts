/**
 * Two processes of one deployment on one table, one of which is killed: between the legs of an
 * authorization, during calls, and while it requests new tokens from the vendor. The other
 * continues.
 */
import { randomUUID } from "node:crypto";
import { fakeCode, fakeVendorEnvironment, type FakeVendorServer, startFakeVendor } from "@oauth-broker/simulators";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { freePort } from "../../support/free-port.ts";
import { type McpAnswer, postAt, postWhoamiAt } from "../../support/mcp/client.ts";
import { AUTHORIZE, VERIFIER } from "../../support/mcp/hosted-harness.ts";
import { hostedEnvironment, type McpServer, PLATFORM_CALLBACK, startMcpServer } from "../../support/mcp/process.ts";
import { encode } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";

/** The lifetime of the vendor's tokens: they are refreshed in the second half of it. */
const LIFETIME_SECONDS = 8;
/** How long the vendor takes to refresh them. */
const REFRESH_MS = 400;

let aws: AwsHarness;
let vendor: FakeVendorServer;
let env: Readonly<Record<string, string>>;
let ports: readonly [string, string];
let servers: [McpServer, McpServer];

const start = async (index: 0 | 1): Promise<McpServer> => startMcpServer({ ...env, PORT: ports[index] });

beforeAll(async () => {
  aws = await startAws();
  vendor = await startFakeVendor({ codes: "named", lifetimeSeconds: LIFETIME_SECONDS, refreshMs: REFRESH_MS });
  const hosted = await hostedEnvironment();
  ports = [hosted["PORT"] ?? "", String(await freePort())];
  env = { ...hosted, ...fakeVendorEnvironment(vendor.url), ...aws.tableEnv };
  servers = await Promise.all([start(0), start(1)]);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  const { found, items } = await aws.scan();
  expect([found, items > 3]).toEqual([[], true]);
  await vendor.close();
  await aws.close();
});

let user: string;
beforeEach(() => {
  user = randomUUID();
});

async function kill(index: 0 | 1): Promise<void> {
  servers[index].signal("SIGKILL");
  await servers[index].exited();
}

/** At this process, under the deployment's name. */
const deployment = (index: 0 | 1) => ({ port: ports[index], url: env["DEPLOYMENT_URL"] ?? "" });

const whoami = async (index: 0 | 1, token: string): Promise<McpAnswer> =>
  postWhoamiAt(ports[index], deployment(index), token);

/**
 * The platform posts the vendor's code.
 * @returns our access token
 */
async function redeem(index: 0 | 1): Promise<string> {
  const form = {
    client_id: "platform",
    grant_type: "authorization_code",
    code: fakeCode(user),
    code_verifier: VERIFIER,
    redirect_uri: PLATFORM_CALLBACK,
  };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { status, text } = await postAt(deployment(index), "/token", {
    headers,
    body: encode(form).toString(),
  });
  expect(status, text).toBe(200);
  const { access_token: token = "" } = JSON.parse(text) as Record<string, string>;
  plantSecret("our access token", token);
  return token;
}

/** After the moment from which a caller waits for new tokens. */
const untilDue = async (): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, (LIFETIME_SECONDS / 2 + 1) * 1000));
};

const isOwn = ({ status, text }: McpAnswer): boolean => status === 200 && text.includes(user);

it("between /authorize and /token: the other redeems the code", async () => {
  const leaving = await fetch(`${servers[0].url}/authorize?${encode(AUTHORIZE).toString()}`, { redirect: "manual" });
  expect(leaving.status).toBe(303);
  await kill(0);
  const token = await redeem(1);
  servers[0] = await start(0);
  expect(isOwn(await whoami(0, token))).toBe(true);
});

it("during a hundred calls: those at the other are all answered, and none twice", async () => {
  const token = await redeem(0);
  const before = vendor.requests("/account");
  const calls = Array.from({ length: 100 }, async (_, index) => {
    const at = index % 2 === 0 ? 0 : 1;
    if (index === 50) servers[0].signal("SIGKILL");
    return whoami(at, token).then(
      (answer) => ({ at, answer }),
      () => ({ at, answer: undefined }),
    );
  });
  const heard = await Promise.all(calls);
  const others = heard.filter(({ at }) => at === 1);
  expect(others.map(({ answer }) => answer !== undefined && isOwn(answer))).toEqual(others.map(() => true));
  expect(heard.filter(({ at, answer }) => at === 0 && answer === undefined).length).toBeGreaterThan(0);
  expect(vendor.requests("/account") - before).toBeLessThanOrEqual(100);
  await servers[0].exited();
  servers[0] = await start(0);
});

it("bar#RF-1 during a vendor call: the other serves all users, this one after consent", async () => {
  const token = await redeem(0);
  await untilDue();
  const { refreshes } = vendor.counts();
  const doomed = whoami(0, token).then(
    () => "answered",
    () => "cut off",
  );
  await vi.waitUntil(() => vendor.counts().refreshes > refreshes, { timeout: 10_000, interval: 2 });
  await kill(0);
  expect(await doomed).toBe("cut off");
  // The vendor had rotated, and its answer was lost with the process: the spent token must not be
  // presented again.
  const anew = await redeem(1);
  expect(isOwn(await whoami(1, anew))).toBe(true);
  expect(isOwn(await whoami(1, token))).toBe(true);
  user = randomUUID();
  expect(isOwn(await whoami(1, await redeem(1)))).toBe(true);
  expect(vendor.counts().replays).toBe(0);
  servers[0] = await start(0);
  expect((await whoami(0, anew)).status).toBe(200);
});
