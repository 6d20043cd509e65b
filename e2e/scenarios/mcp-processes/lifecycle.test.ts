/**
 * The life of a server process on one folder: sessions survive restarts and crashes, the operator's
 * commands work beside it, SIGTERM finishes what is in flight, and a configuration with mistakes is
 * reported completely before anything runs.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { startHeldVendor } from "../../support/vendors/held-vendor.ts";
import { postWhoami, postWhoamiAt } from "../../support/mcp/client.ts";
import { createMcpPlatform, errorOf, type McpPlatform, type PlatformTokens } from "../../support/mcp/platform.ts";
import {
  type Environment,
  hostedEnvironment,
  type McpServer,
  runMcpCommand,
  startMcpServer,
} from "../../support/mcp/process.ts";
import { plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { findSecrets, plantedCount, plantSecret } from "../../support/secrets.ts";
import { temporaryFolder } from "../../support/service-process.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const folder = temporaryFolder();
const vendor = shared(startGitHubVendor);
let env: Environment;
let server: McpServer;
let platform: McpPlatform;

beforeAll(async () => {
  env = { ...(await hostedEnvironment()), ...vendor.env };
  server = await startMcpServer(env, folder);
  platform = await createMcpPlatform(server.url);
});
afterAll(async () => {
  plantAll("live vendor token", vendor.github.liveTokens());
  await server.stop();
});

const statusOf = async ({ accessToken }: PlatformTokens): Promise<number> =>
  (await postWhoami(server.mcp, accessToken)).status;

describe("a process that ends", () => {
  it.each(["SIGTERM", "SIGKILL"] as const)(
    "by %s leaves sessions, and flows under way, to the next",
    async (signal) => {
      const tokens = await platform.connect();
      const returned = await platform.toVendor({ account: "operator" });
      server.signal(signal);
      expect(await server.exited()).toBe(signal === "SIGTERM" ? 0 : null);
      server = await startMcpServer(env, folder);
      expect(await statusOf(tokens)).toBe(200);
      expect(await statusOf(await platform.refresh(tokens.refreshToken))).toBe(200);
      expect(await statusOf(await platform.redeem(returned))).toBe(200);
    },
  );

  it("for good leaves files that only the owner reads, without a secret", async () => {
    const data = join(folder, "data");
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name)).toContain("tokens.sqlite");
    plantAll("live vendor token", vendor.github.liveTokens());
    expect(plantedCount()).toBeGreaterThan(10);
    for (const { name, parentPath } of files) {
      const path = join(parentPath, name);
      expect([name, findSecrets(readFileSync(path, "latin1"))]).toEqual([name, []]);
      expect([name, statSync(path).mode & 0o077]).toEqual([name, 0]);
    }
  });
});

it("an operator's command beside the running server ends one user's connection", async () => {
  const [user, operator] = [await platform.connect("user"), await platform.connect("operator")];
  const [newest = ""] = vendor.github.liveTokens("operator").slice(-1);
  const revoked = await runMcpCommand(env, folder, "links", "revoke", "2");
  expect([revoked.code, revoked.stdout]).toEqual([0, expect.stringContaining("GitHub has revoked the token.")]);
  expect([await statusOf(user), await statusOf(operator)]).toEqual([200, 401]);
  expect(await errorOf(platform.refresh(operator.refreshToken))).toBe("400 invalid_grant");
  expect(vendor.github.isLive(newest)).toBe(false);
  expect(findSecrets(revoked.stdout + revoked.stderr)).toEqual([]);
});

it("SIGTERM during a vendor call: not ready, served during the grace, answered, exit 0", async () => {
  const held = await startHeldVendor();
  const port = String(await freePort());
  const stopping = await startMcpServer({
    OAUTH_MODE: "pre-registered",
    // Behind a balancer, which has time to notice.
    DEPLOYMENT_URL: "https://server.example.com",
    PORT: port,
    VENDOR: "held",
    VENDOR_AUTHORIZATION_URL: held.tokenEndpoint,
    VENDOR_TOKEN_URL: held.tokenEndpoint,
    VENDOR_USERINFO_URL: held.tokenEndpoint,
    EGRESS_ALLOW_LOOPBACK: "true",
  });
  const statusAt = async (path: string): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    );
  expect([stopping.url, await statusAt("/readyz")]).toEqual(["https://server.example.com", 200]);
  const call = postWhoamiAt(port, stopping, "a-vendor-token-that-is-validated-slowly");
  await held.received;
  stopping.signal("SIGTERM");
  await expect.poll(async () => statusAt("/readyz"), { interval: 20 }).toBe(503);
  expect(await statusAt("/healthz")).toBe(200);
  await expect.poll(async () => statusAt("/healthz")).toBe(0);
  held.release({ sub: "held-user" });
  const { status, text } = await call;
  expect([status, text.includes("held-user")]).toEqual([200, true]);
  await stopping.stop();
  expect(await stopping.exited()).toBe(0);
  await held.close();
});

it("a configuration with mistakes is refused with all problems, without a secret, and leaves nothing", async () => {
  const secret = "a secret with a line\nbreak in it";
  plantSecret("client secret at the vendor", secret);
  const cwd = temporaryFolder();
  const wrong = { OAUTH_CALLBACK: "plattform", PORT: "65536", VENDOR_CLIENT_SECRET: secret };
  const ended = await runMcpCommand({ ...env, ...wrong }, cwd);
  expect([ended.code, ended.stdout]).toEqual([1, ""]);
  for (const name of Object.keys(wrong)) expect(ended.stderr).toMatch(new RegExp(`^ +${name} `, "m"));
  expect(findSecrets(ended.stderr)).toEqual([]);
  expect(ended.stderr).not.toContain("break in it");
  expect(readdirSync(cwd)).toEqual([]);
});
