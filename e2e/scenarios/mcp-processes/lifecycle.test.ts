/**
 * The life of a server process on one folder: sessions survive restarts and crashes, the operator's
 * commands work beside it, SIGTERM finishes what is in flight, and a configuration with mistakes is
 * reported completely before anything runs.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
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
import { type GitHubVendor, plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { findSecrets, plantedCount, plantSecret } from "../../support/secrets.ts";
import { temporaryFolder } from "../../support/service-process.ts";

let vendor: GitHubVendor;
let env: Environment;
let folder: string;
let server: McpServer;
let platform: McpPlatform;

beforeAll(async () => {
  vendor = await startGitHubVendor();
  env = { ...(await hostedEnvironment()), ...vendor.env };
  folder = temporaryFolder();
  server = await startMcpServer(env, folder);
  platform = await createMcpPlatform(server.url);
});
afterAll(async () => {
  plantAll("live vendor token", vendor.github.liveTokens());
  await server.stop();
  await vendor.close();
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

  it("with another DEPLOYMENT_URL takes no token that was issued for the first", async () => {
    const tokens = await platform.connect();
    const port = await freePort();
    const other = await startMcpServer({ ...env, DEPLOYMENT_URL: `http://127.0.0.1:${port}`, PORT: `${port}` }, folder);
    expect((await postWhoami(other.mcp, tokens.accessToken)).status).toBe(401);
    const elsewhere = await createMcpPlatform(other.url);
    expect(await errorOf(elsewhere.refresh(tokens.refreshToken))).toBe("400 invalid_grant");
    await other.stop();
    expect(await statusOf(tokens)).toBe(200);
  });
});

describe("the operator's commands, beside the running server", () => {
  const command = async (...args: string[]) => runMcpCommand(env, folder, ...args);

  it("list connected users, and end one user's connection", async () => {
    const [user, operator] = [await platform.connect("user"), await platform.connect("operator")];
    const [newest = ""] = vendor.github.liveTokens("operator").slice(-1);
    const listed = await command("links", "list");
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/works +github +1\n(.*\n)*.*2 links\.\n/)]);
    const revoked = await command("links", "revoke", "2");
    expect([revoked.code, revoked.stdout]).toEqual([0, expect.stringContaining("GitHub has revoked the token.")]);
    expect([await statusOf(user), await statusOf(operator)]).toEqual([200, 401]);
    expect(await errorOf(platform.refresh(operator.refreshToken))).toBe("400 invalid_grant");
    expect(vendor.github.isLive(newest)).toBe(false);
    expect((await command("links", "list", "2")).stdout).toBe("No links.\n");
    expect((await command("links", "revoke", "2")).code).toBe(0);
    for (const { stdout, stderr } of [listed, revoked]) expect(findSecrets(stdout + stderr)).toEqual([]);
  });

  it.each([
    [2, ["links"]],
    [2, ["links", "revoke"]],
    [2, ["links", "revoke", ""]],
    [2, ["links", "list", "a", "b"]],
    [2, ["drop"]],
    [2, ["links", "list", "--all"]],
    [0, ["--help"]],
    [0, ["token-store", "audit"]],
  ])("end with %i for %j", async (code, args) => {
    const ended = await command(...args);
    expect([ended.code, ended.stderr.includes("    at ")], ended.stderr).toEqual([code, false]);
  });

  it("report that there is nothing to list before a server has run, and create no file", async () => {
    const empty = temporaryFolder();
    const ended = await runMcpCommand(env, empty, "links", "list");
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toContain("tokens.sqlite");
    expect(existsSync(join(empty, "data"))).toBe(false);
  });
});

it("SIGTERM during a vendor call: it is answered, new connections refused, exit 0", async () => {
  const held = await startHeldVendor();
  const draining = await startMcpServer({
    OAUTH_MODE: "pre-registered",
    PORT: String(await freePort()),
    VENDOR: "held",
    VENDOR_AUTHORIZATION_URL: held.tokenEndpoint,
    VENDOR_TOKEN_URL: held.tokenEndpoint,
    VENDOR_USERINFO_URL: held.tokenEndpoint,
    EGRESS_ALLOW_LOOPBACK: "true",
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const call = postWhoami(draining.mcp, "a-vendor-token-that-is-validated-slowly", { body });
  await held.received;
  draining.signal("SIGTERM");
  await expect
    .poll(async () =>
      fetch(`${draining.url}/healthz`).then(
        () => "open",
        () => "refused",
      ),
    )
    .toBe("refused");
  held.release({ sub: "held-user" });
  const { status, text } = await call;
  expect([status, text.includes("list_pages")]).toEqual([200, true]);
  await draining.stop();
  expect(await draining.exited()).toBe(0);
  await held.close();
});

it("SIGTERM behind a balancer: not ready, served during the grace, refused, exit 0", async () => {
  const port = String(await freePort());
  const deployed = { ...env, DEPLOYMENT_URL: "https://server.example.com", PORT: port, DATA_DIR: "deployed" };
  const stopping = await startMcpServer(deployed);
  const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
  const statusAt = async (path: string): Promise<number> =>
    fetch(at(path)).then(
      ({ status }) => status,
      () => 0,
    );
  expect([stopping.url, await statusAt("/readyz")]).toEqual(["https://server.example.com", 200]);
  stopping.signal("SIGTERM");
  await expect.poll(async () => statusAt("/readyz"), { interval: 20 }).toBe(503);
  const late = await postWhoamiAt(port, stopping, "unknown-token");
  expect([late.status, await statusAt("/healthz")]).toEqual([401, 200]);
  await expect.poll(async () => statusAt("/healthz")).toBe(0);
  await stopping.stop();
  expect(await stopping.exited()).toBe(0);
});

describe("a configuration with mistakes", () => {
  const start = async (wrong: Environment) => runMcpCommand(wrong, temporaryFolder());

  it("is refused with all problems on stderr, without a secret, and leaves nothing", async () => {
    const secret = "a secret with a line\nbreak in it";
    plantSecret("client secret at the vendor", secret);
    const cwd = temporaryFolder();
    const ended = await runMcpCommand(
      {
        ...env,
        DEPLOYMENT_URL: "https://server.example.com/",
        PLATFORM_OAUTH_CALLBACK_URL: "http://platform.example.com/oauth/callback",
        OAUTH_CALLBACK: "plattform",
        PORT: "65536",
        VENDOR: "githup",
        VENDOR_CLIENT_SECRET: secret,
        LIMITS_REQUESTS_PER_MINUTE: "-1",
        TOKEN_ENCRYPTION_MODE: "plain",
      },
      cwd,
    );
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    for (const name of [
      "DEPLOYMENT_URL",
      "PLATFORM_OAUTH_CALLBACK_URL",
      "OAUTH_CALLBACK",
      "PORT",
      "VENDOR_CLIENT_SECRET",
      "LIMITS_REQUESTS_PER_MINUTE",
      "TOKEN_ENCRYPTION_MODE",
    ]) {
      expect(ended.stderr).toMatch(new RegExp(`^ +${name} `, "m"));
    }
    expect(findSecrets(ended.stderr)).toEqual([]);
    expect(ended.stderr).not.toContain("break in it");
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each<[string, Environment, RegExp]>([
    ["nothing is set", {}, /OAUTH_MODE is missing/],
    ["hosted mode without its own URL", { OAUTH_MODE: "hosted", VENDOR: "github" }, /DEPLOYMENT_URL is missing/],
    [
      "no vendor to validate tokens",
      {
        OAUTH_MODE: "pre-registered",
        VENDOR: "mine",
        VENDOR_AUTHORIZATION_URL: "https://vendor.example.com/authorize",
        VENDOR_TOKEN_URL: "https://vendor.example.com/token",
      },
      /VENDOR_USERINFO_URL or VENDOR_INTROSPECTION_URL/,
    ],
  ])("is refused where %s", async (_, wrong, sentence) => {
    const ended = await start(wrong);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([1, "", expect.stringMatching(sentence)]);
  });

  it("is refused where the port is taken, in one line with what to do", async () => {
    const ended = await runMcpCommand(env, temporaryFolder());
    expect([ended.code, ended.stderr.trim().split("\n")]).toEqual([
      1,
      [expect.stringMatching(/^Port \d+ is in use\./)],
    ]);
  });
});
