/**
 * The reference platform's deploy command as a process, and the servers it starts: what
 * a user's calls meet behind the ingress, and a deploy that is killed. What a deploy reports, and the
 * states of a connector, are tested in apps/platform/src/deploy.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { Secret } from "@oauth-broker/oauth-core";
import { callAwsJson } from "../../../packages/simulators/src/aws/aws-json.ts";
import { callTool, connectClient, ERAS, postWhoami } from "../../support/mcp/client.ts";
import { PLATFORM_CALLBACK } from "../../support/mcp/process.ts";
import { createMcpPlatform } from "../../support/mcp/platform.ts";
import { OUR_CLIENT, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { ROOT } from "../../support/paths.ts";
import { DEPLOYERS_OWN, serverProject, type ServerProject } from "../../support/reference-platform/process.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const PRE_REGISTERED = "name: notes\nmode: pre-registered";
const HOSTED = `name: notes
mode: hosted
enable_db: true
service:
  expose: [/.well-known/oauth-authorization-server, /.well-known/oauth-protected-resource,
    /.well-known/oauth-protected-resource/mcp, /authorize, /token, /register, /revoke]`;
const FIXTURE = join(ROOT, "apps", "platform", "src", "testing", "fixture-server.ts");

const OWN_CALLBACK = "https://platform.example/oauth/connectors/notes/callback";

// Each test starts several processes, one after the other.
vi.setConfig({ testTimeout: 120_000 });

const vendor = shared(() => startGitHubVendor({ redirectUris: [PLATFORM_CALLBACK, OWN_CALLBACK] }));

let project: ServerProject;

it("a pre-registered server is activated once its client is entered, and called with vendor tokens", async () => {
  project = serverProject({ yaml: PRE_REGISTERED, env: vendor.env });
  expect((await project.deploy("init")).code).toBe(0);
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
  expect((await project.deploy("logs")).stdout).toContain('"event":"listening"');
  await running.stop();
});

it("bar#TS-7 a hosted server whose record of a user does not open answers 503 to that user alone", async () => {
  project = serverProject({ yaml: HOSTED, env: vendor.env, keepsEnvironment: true });
  await project.init();
  const running = await project.start();
  await expect.poll(running.stderr).toContain("The authorization endpoint redirects to the vendor");
  expect(running.stderr()).toContain("Table notes-tokens, encrypted");
  expect((await project.connector())?.state).toBe("active");
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
  const without = await postWhoami(running.mcp, undefined);
  expect([without.status, without.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer resource_metadata="${running.url}/.well-known/oauth-protected-resource/mcp"`,
  ]);
  // Paths that are not exposed require a token; exposed ones answer only to the server's own name.
  expect((await fetch(`${running.url}/healthz`)).status).toBe(401);

  const platform = await createMcpPlatform(running.url, OWN_CALLBACK);
  const [user, operator] = [await platform.connect("user"), await platform.connect("operator")];
  // As an attacker with write access or a broken migration would.
  const table = {
    endpoint: environment["AWS_ENDPOINT_URL_DYNAMODB"]!,
    region: "eu-west-1",
    service: "dynamodb",
  } as const;
  const inTable = (operation: string, input: object) =>
    callAwsJson({ ...table, operation, input: { TableName: "notes-tokens", ...input } });
  const { Items: items } = (await inTable("Scan", { ConsistentRead: true })) as {
    readonly Items: readonly Readonly<Record<string, { readonly S?: string }>>[];
  };
  const whole = items.find(({ pk, sk }) => pk?.S === "USER#1" && sk?.S?.startsWith("VENDOR#") === true)!;
  expect(Object.keys(whole)).not.toContain("access_token");
  const cut = whole["sealed_access_token"]?.S?.slice(0, 20) ?? "";
  await inTable("PutItem", { Item: { ...whole, sealed_access_token: { S: cut } } });
  const refused = await postWhoami(running.mcp, user.accessToken);
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining("token_unreadable")]);
  expect((await postWhoami(running.mcp, operator.accessToken)).status).toBe(200);
  await running.stop();
});

it("a killed deploy changes nothing and leaves no server behind, and the next gets its address", async () => {
  project = serverProject({ yaml: HOSTED, start: `exec node ${JSON.stringify(FIXTURE)}` });
  await project.init();
  const before = await project.connector();
  await project.killWhen("• Starting");
  // Except for the address it claimed.
  const { serverUrl, updatedAt: _, ...after } = (await project.connector())!;
  expect({ ...after, updatedAt: before?.updatedAt }).toEqual(before);
  const killed = await project.start();
  expect([killed.mcp, (await project.connector())?.state]).toEqual([serverUrl, "active"]);
  killed.signal("SIGKILL");
  await killed.exited();
  await expectNobodyAt(killed.mcp);
  const again = await project.start();
  expect(again.mcp).toBe(serverUrl);
  expect((await fetch(`${again.url}/.well-known/oauth-authorization-server`)).status).toBe(200);
  await again.stop();
});

it("a port in use is named, with the variable that chooses another", async () => {
  const { origin: platformUrl, port } = new URL(vendor.env["VENDOR_TOKEN_URL"]!);
  project = serverProject({ yaml: PRE_REGISTERED, platformUrl });
  await expect(project.serve()).rejects.toThrow(
    `ended with 1 before it listened\nPort ${port} is in use. Stop what uses it, or choose another: PLATFORM_URL=http://127.0.0.1:8790.\n`,
  );
});

async function expectNobodyAt(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(url, { method: "POST" }).catch(() => undefined);
    if (answer === undefined) return;
    await sleep(50);
  }
  expect.fail("a process still listens there");
}
