/**
 * The platform as two processes on one data folder, its pages and its deploy command: from a service.yaml to an agent's call, for a
 * server of each mode. What users and administrators do, they do on the pages.
 */
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { freePort } from "../support/free-port.ts";
import { ROOT } from "../support/paths.ts";
import { type GitHubVendor, OUR_CLIENT, startGitHubVendor } from "../support/mcp-vendor.ts";
import { type ProjectOptions, serverProject, type ServerProject } from "../support/platform-process.ts";
import { createVisitor } from "../support/platform-stage.ts";
import type { ServiceProcess } from "../support/service-process.ts";

const HOSTED = `name: notes
mode: hosted
enable_db: true
service:
  expose: [/.well-known/oauth-authorization-server, /.well-known/oauth-protected-resource,
    /.well-known/oauth-protected-resource/mcp, /authorize, /token, /register, /revoke]`;
const OPEN_SERVER = join(ROOT, "e2e", "support", "open-server.ts");
const PRE_REGISTERED = "name: notes\nmode: pre-registered";

// Each test starts several processes, one after the other.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let platformUrl: string;
let vendor: GitHubVendor;
let project: ServerProject;
let pages: ServiceProcess;

beforeAll(async () => {
  platformUrl = `http://127.0.0.1:${await freePort()}`;
  vendor = await startGitHubVendor({ redirectUris: [`${platformUrl}/oauth/callback`] });
});
afterAll(() => vendor.close());

async function begin(yaml: string, options: Pick<ProjectOptions, "start"> = {}): Promise<void> {
  const env = options.start === undefined ? vendor.env : {};
  project = serverProject({ yaml, env, platformUrl, ...options });
  expect((await project.deploy("init")).code).toBe(0);
  pages = await project.serve();
}
afterEach(async () => {
  await pages.stop();
  project.remove();
});

describe("a hosted server", () => {
  beforeEach(() => begin(HOSTED));

  it("is a draft, is deployed, and two users call it as themselves through the ingress", async () => {
    const first = await createVisitor(platformUrl, "first-user");
    expect(await first.read("/connectors")).toContain("Draft");
    const running = await project.start();
    expect(await first.read("/connectors")).toContain("Active");
    await first.connect("notes", { account: "user" });
    const second = await createVisitor(platformUrl, "second-user");
    await second.connect("notes", { account: "operator" });
    expect(await first.callTool("notes")).toContain('"sample-user"');
    expect(await second.callTool("notes")).toContain('"sample-operator"');
    await running.stop();
    expect(await first.callTool("notes")).toContain("cannot answer now");
    expect(await first.read("/connectors/notes")).toContain("<dd>Connected</dd>");
  });
});

describe("a pre-registered server", () => {
  beforeEach(() => begin(PRE_REGISTERED));

  it("stays a draft, gets its client under Settings, is activated, and called with the user's vendor token", async () => {
    expect((await project.deploy("run")).code).toBe(3);
    const administrator = await createVisitor(platformUrl, "admin");
    const page = "/connectors/notes/settings";
    const saved = await administrator.submit(page, page, {
      authentication: "oauth_2_1",
      registration: "pre_registered_client",
      vendorOrIssuer: "github",
      clientId: OUR_CLIENT,
      clientSecret: vendor.env["VENDOR_CLIENT_SECRET"] ?? "",
      authorizationUrl: vendor.env["VENDOR_AUTHORIZATION_URL"] ?? "",
      tokenUrl: vendor.env["VENDOR_TOKEN_URL"] ?? "",
      scopes: "read:user",
    });
    expect(saved.location).toBe(`${page}?saved`);
    const running = await project.start();
    const first = await createVisitor(platformUrl, "first-user");
    expect(await first.connect("notes")).toContain("<dd>Connected</dd>");
    expect(await first.callTool("notes")).toContain('"sample-user"');
    await running.stop();
  });
});

describe("a server without OAuth", () => {
  beforeEach(() => begin("name: notes\nmode: none", { start: `node ${JSON.stringify(OPEN_SERVER)}` }));

  it("is called without a connection, by a token of the platform that the server never sees", async () => {
    const running = await project.start();
    const first = await createVisitor(platformUrl, "first-user");
    expect(await first.read("/connectors/notes")).toContain("there is nothing to connect");
    expect(await first.callTool("notes", "look")).toBe("authorization: none");
    await running.stop();
  });
});
