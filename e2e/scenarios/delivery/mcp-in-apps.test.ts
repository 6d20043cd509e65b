/**
 * The examples with an MCP server inside an app: the app's pages and the server's, at one port, and
 * what the conformance suite says of them.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHarness } from "../../conformance/harness.ts";
import { expectScore, SCORES } from "../../conformance/scores.ts";
import { startAws } from "../../support/aws/aws.ts";
import { freePort } from "../../support/free-port.ts";
import {
  endOfExample,
  exampleFolder,
  type ExampleProcess,
  linesOfCode,
  startExample,
} from "../../support/packages/example-process.ts";
import { BUILD_MS, buildNextApp } from "../../support/packages/next-app.ts";
import { nodeOf } from "../../support/packages/packages.ts";
import { ROOT } from "../../support/paths.ts";
import { temporaryFolder } from "../../support/broker/process.ts";

const SERVE_FIXTURE = pathToFileURL(join(ROOT, "e2e", "conformance", "serve-fixture.ts")).href;
/** `npm test` has the app that is not on Hono, as the template is. */
const APPS = ["mcp-in-express", ...volume({ test: [], soak: ["mcp-in-hono", "mcp-in-next"] })];
/** The one on Hono is measured below, on an older Node.js. */
const MEASURED = volume({ test: [], soak: ["mcp-in-express", "mcp-in-next"] });
const LIBRARIES = ["mcp-auth", "oauth-core", "service", "token-store"];

describe.each(APPS)("%s", (name) => {
  let folder: string;
  let app: ExampleProcess;
  let url: string;

  beforeAll(async () => {
    folder = name.endsWith("-in-next") ? await buildNextApp(name, LIBRARIES) : exampleFolder(name);
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    const env = {
      PORT: port,
      OAUTH_MODE: "hosted",
      DEPLOYMENT_URL: url,
      DATA_DIR: temporaryFolder(),
      VENDOR: "my-vendor",
      VENDOR_AUTHORIZATION_URL: "https://vendor.example.com/authorize",
      VENDOR_TOKEN_URL: "https://vendor.example.com/token",
      VENDOR_USERINFO_URL: "https://vendor.example.com/userinfo",
      VENDOR_CLIENT_ID: "our-id",
      OAUTH_DYNAMIC_REGISTRATION: "open",
    };
    app = await startExample({ folder, env });
  }, BUILD_MS);
  afterAll(() => app.stop());

  it("serves its own page, and the server's metadata", async () => {
    expect(await (await fetch(`${url}/hello`)).text()).toBe("The app's own page");
    const metadata = await fetch(`${url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({ issuer: url, token_endpoint: `${url}/token` });
  });

  it("reads bodies, and refuses those without a token", async () => {
    const body = JSON.stringify({ client_name: "Test", redirect_uris: ["http://127.0.0.1/callback"] });
    const registered = await fetch(`${url}/register`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect(registered.status).toBe(201);
    const challenge = await fetch(`${url}/mcp`, { method: "POST", body: "{}" });
    expect([challenge.status, challenge.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringMatching(/^Bearer/),
    ]);
    expect((await fetch(`${url}/token`, { method: "DELETE" })).status).toBe(405);
  });

  it.each(MEASURED.filter((one) => one === name))("%s meets MCP just as the server of the template does", async () => {
    const harness = await openHarness({
      start: async (env) => startExample({ folder, env: { ...env, NODE_OPTIONS: `--import=${SERVE_FIXTURE}` } }),
    });
    for (const score of SCORES) await expectScore(harness.url, ...score);
    await harness.close();
  });

  it("ends with what is wrong with its settings", async () => {
    const { code, output } = await endOfExample({ folder, env: { PORT: String(await freePort()) } });
    expect(code).toBe(1);
    expect(output).toContain("OAUTH_MODE is missing");
  });

  it("has less than 120 lines of code", () => {
    expect(linesOfCode(name)).toBeLessThan(120);
  });
});

/** What `node:sqlite` needs Node.js 24.15 for is not loaded. */
it.each(volume({ test: [], soak: ["22.19.0"] }))(
  "with DynamoDB as its only store, an app on Node.js %s meets MCP just the same",
  async (version) => {
    const [aws, node] = [await startAws(), await nodeOf(version)];
    let app: ExampleProcess | undefined;
    const harness = await openHarness({
      start: async (env) => {
        const settings = { ...env, ...aws.tableEnv, NODE_OPTIONS: `--import=${SERVE_FIXTURE}` };
        app = await startExample({ folder: exampleFolder("mcp-in-hono"), env: settings, node });
        return app;
      },
    });
    for (const score of SCORES) await expectScore(harness.url, ...score);
    expect(app?.output()).not.toMatch(/SQLite/i);
    await harness.close();
    await aws.close();
  },
  BUILD_MS,
);
