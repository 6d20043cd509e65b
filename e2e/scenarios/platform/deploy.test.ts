/**
 * The reference platform's deploy command on the template, from source and as processes: the states
 * of a connector, what a user's calls meet behind the ingress, and every error that a deploy can
 * meet.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Secret } from "@oauth-broker/oauth-core";
import { callTool, connectClient, ERAS, postWhoami } from "../../support/mcp/client.ts";
import { openTable } from "../../support/aws/mcp.ts";
import { createMcpPlatform } from "../../support/mcp/platform.ts";
import { type GitHubVendor, OUR_CLIENT, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { ROOT } from "../../support/paths.ts";
import { DEPLOYERS_OWN, serverProject, type ServerProject } from "../../support/reference-platform/process.ts";

const PRE_REGISTERED = "name: notes\nmode: pre-registered";
const HOSTED = `name: notes
mode: hosted
enable_db: true
service:
  expose: [/.well-known/oauth-authorization-server, /.well-known/oauth-protected-resource,
    /.well-known/oauth-protected-resource/mcp, /authorize, /token, /register, /revoke]`;
const FIXTURE = join(ROOT, "apps", "platform", "src", "testing", "fixture-server.ts");

/** The platform's own address, as the process sets it. */
const SHARED_CALLBACK = "https://platform.example/oauth/callback";
const OWN_CALLBACK = "https://platform.example/oauth/connectors/notes/callback";

// Each test starts several processes, one after the other.
vi.setConfig({ testTimeout: 120_000 });

let vendor: GitHubVendor;
beforeAll(async () => {
  vendor = await startGitHubVendor({ redirectUris: [SHARED_CALLBACK, OWN_CALLBACK] });
});
afterAll(() => vendor.close());

let project: ServerProject;
afterEach(() => project.remove());

describe("a pre-registered server", () => {
  it("stays a draft until its client is entered; then a deploy activates it", async () => {
    project = serverProject({ yaml: PRE_REGISTERED, env: vendor.env });
    expect((await project.deploy("init")).code).toBe(0);
    const first = await project.deploy("run");
    expect(first.code).toBe(3);
    const outcome = { event: "deployed", connector: "notes", state: "draft", test: "client_missing" };
    expect(first.stdout.split("\n")).toContain(JSON.stringify(outcome));
    expect(first.stderr).toContain("The server answers 401, and no OAuth client is configured.");
    expect((await project.deploy("status")).stdout).toContain("notes: draft");

    await project.changeSettings({
      authentication: "oauth_2_1",
      registration: "pre_registered_client",
      clientId: OUR_CLIENT,
      clientSecret: new Secret("the-secret-at-the-vendor"),
      authorizationUrl: vendor.env["VENDOR_AUTHORIZATION_URL"]!,
      tokenUrl: vendor.env["VENDOR_TOKEN_URL"]!,
      scopes: "read:user",
    });
    const running = await project.start();
    expect((await project.connector())?.state).toBe("active");
    const without = await postWhoami(running.mcp, undefined);
    expect([without.status, without.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await postWhoami(running.mcp, "not-a-token-of-this-vendor")).status).toBe(401);
    const token = await vendor.obtainToken();
    for (const era of ERAS) {
      const client = await connectClient(running.mcp, token, era);
      expect((await callTool(client, "whoami")).value).toMatchObject({ login: "sample-user" });
      await client.close();
    }
    const status = await project.deploy("status");
    expect(status.stdout).toMatch(/notes: active[^]*runs in process \d+/);
    expect(status.stdout + running.stderr()).not.toContain("the-secret-at-the-vendor");
    const logs = await project.deploy("logs");
    expect(logs.stdout).toContain('"event":"listening"');
    await running.stop();
    expect((await project.deploy("status")).stdout).toContain("not running");
  });

  it("must not expose anything, and reports every problem before anything is started", async () => {
    project = serverProject({ yaml: `${PRE_REGISTERED}\nservice: {expose: [/token]}\nenable_db: maybe` });
    const { code, stderr } = await project.deploy("run");
    expect(code).toBe(1);
    expect(stderr).toContain("2 problems");
    expect(stderr).toContain("service.expose must not be set");
  });
});

describe("a hosted server with a table", () => {
  it("is activated by its first deploy, and is open on exposed paths only", async () => {
    project = serverProject({ yaml: HOSTED, env: vendor.env });
    await project.deploy("init");
    const running = await project.start();
    await expect.poll(running.stderr).toContain("The authorization endpoint redirects to the vendor");
    expect(running.stderr()).toContain("Table notes-tokens, encrypted");
    expect((await project.connector())?.state).toBe("active");
    const without = await postWhoami(running.mcp, undefined);
    expect([without.status, without.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer resource_metadata="${running.url}/.well-known/oauth-protected-resource/mcp"`,
    ]);
    // Paths that are not exposed require a token; exposed ones answer only to the server's own
    // name.
    expect((await fetch(`${running.url}/healthz`)).status).toBe(401);
    await running.stop();
  });

  it("bar#TS-7 whose record of a user does not open answers 503 to that user alone", async () => {
    project = serverProject({ yaml: HOSTED, env: vendor.env, keepsEnvironment: true });
    await project.deploy("init");
    const running = await project.start();
    const environment = project.environment();
    expect(environment).toMatchObject({
      OAUTH_MODE: "hosted",
      DEPLOYMENT_URL: running.url,
      PLATFORM_OAUTH_CALLBACK_URL: OWN_CALLBACK,
      DB_TABLE_NAME: "notes-tokens",
      DB_TABLE_REGION: "eu-west-1",
      TOKEN_ENCRYPTION_KMS_KEY_ID: expect.stringMatching(/^arn:aws:kms:/),
      TOKEN_ENCRYPTION_MODE: "encrypted",
    });
    expect(JSON.stringify(environment)).not.toContain(DEPLOYERS_OWN);

    const platform = await createMcpPlatform(running.url, OWN_CALLBACK);
    const [user, operator] = [await platform.connect("user"), await platform.connect("operator")];
    const engine = { endpoint: environment["AWS_ENDPOINT_URL_DYNAMODB"]!, region: "eu-west-1" } as const;
    const table = openTable({ engine, table: "notes-tokens" });
    const whole = await table.tokensOf("1");
    expect(Object.keys(whole)).not.toContain("access_token");
    await table.change(whole, "sealed_access_token", (value) => value.slice(0, 20));
    const refused = await postWhoami(running.mcp, user.accessToken);
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining("token_unreadable")]);
    expect((await postWhoami(running.mcp, operator.accessToken)).status).toBe(200);
    table.close();
    await running.stop();
  });

  it("with a mode in code other than TOKEN_ENCRYPTION_MODE does not start, and says so", async () => {
    const store = join(ROOT, "packages", "token-store", "src", "index.ts");
    const script = `import { openTokenStore } from ${JSON.stringify(store)}; await openTokenStore({ mode: 'bridge' });`;
    const start = `node --input-type=module -e ${JSON.stringify(script).replaceAll("$", "\\$")}`;
    project = serverProject({ yaml: HOSTED, env: vendor.env, start });
    await project.deploy("init");
    const { code, stderr } = await project.deploy("run");
    expect(code).toBe(1);
    expect(stderr).toContain("The mode in the code and TOKEN_ENCRYPTION_MODE differ");
    expect((await project.connector())?.state).toBe("draft");
  });

  it("behind a global auth middleware fails, is named as such, and stays a draft", async () => {
    project = serverProject({ yaml: HOSTED, env: { FAULT: "global-auth" }, start: `node ${JSON.stringify(FIXTURE)}` });
    await project.deploy("init");
    const { code, stderr } = await project.deploy("run");
    expect(code).toBe(1);
    expect(stderr).toContain("a global auth middleware is in front of the OAuth discovery routes");
    expect(stderr).toContain("protect POST /mcp only");
    expect((await project.connector())?.state).toBe("draft");
  });
});

describe("a hosted server with the shared redirect URI", () => {
  it("is given the literal one and warned of, until it has its own", async () => {
    project = serverProject({ yaml: HOSTED, env: vendor.env, keepsEnvironment: true });
    const init = await project.deploy("init", "--shared-callback");
    expect(init.stderr).toMatch(
      /register with the vendor: \S+\/oauth\/callback\n[^]*Warning: notes shares the redirect URI/,
    );
    const shared = await project.start();
    expect(project.environment()["PLATFORM_OAUTH_CALLBACK_URL"]).toBe(SHARED_CALLBACK);
    await expect.poll(shared.stderr).toContain("Warning: notes shares the redirect URI");
    expect((await project.deploy("status")).stdout).toMatch(
      /redirect URI +\S+\/oauth\/callback\n[^]*Warning: notes shares/,
    );
    await shared.stop();

    expect((await project.deploy("init", "--own-callback")).stderr).toContain(
      `its redirect URI is now ${OWN_CALLBACK}`,
    );
    const own = await project.start();
    expect(project.environment()["PLATFORM_OAUTH_CALLBACK_URL"]).toBe(OWN_CALLBACK);
    const status = await project.deploy("status");
    await own.stop();
    expect(own.stderr() + status.stdout).not.toContain("Warning");
  });
});

describe("two deploys", () => {
  it("one that is killed midway changes nothing, and the next succeeds", async () => {
    project = serverProject({ yaml: HOSTED, env: vendor.env });
    await project.deploy("init");
    const before = await project.connector();
    await project.killWhen("• Starting");
    // Except for the address it claimed.
    const { serverUrl, updatedAt: _, ...after } = (await project.connector())!;
    expect({ ...after, updatedAt: before?.updatedAt }).toEqual(before);
    const again = await project.start();
    expect([again.mcp, (await project.connector())?.state]).toEqual([serverUrl, "active"]);
    await again.stop();
  });

  it("a killed one leaves no server behind, the next gets its address, and of two at once one wins", async () => {
    project = serverProject({ yaml: HOSTED, env: vendor.env });
    await project.deploy("init");
    const killed = await project.start();
    killed.signal("SIGKILL");
    await killed.exited();
    await expectNobodyAt(killed.mcp);
    const again = await project.start();
    expect(again.mcp).toBe(killed.mcp);
    // At once: one wins, the other reports that and changes nothing.
    const loser = await project.deploy("run");
    expect(loser.code).toBe(1);
    expect(loser.stderr).toContain(`notes is deployed by process ${again.pid} since`);
    expect((await fetch(`${again.url}/.well-known/oauth-authorization-server`)).status).toBe(200);
    await again.stop();
  });
});

async function expectNobodyAt(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(url, { method: "POST" }).catch(() => undefined);
    if (answer === undefined) return;
    await sleep(50);
  }
  expect.fail("a process still listens there");
}
