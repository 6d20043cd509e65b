/**
 * The platform's journeys, from a service.yaml to an agent's call: the deploy command, the pages
 * and the server are processes, and users and administrators act in Chromium.
 */
import { randomBytes } from "node:crypto";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startPracticeVendors } from "../../../packages/mcp-auth/src/dev/practice-vendor.ts";
import { startInProcessBroker } from "../../support/broker/in-process.ts";
import { CHROMIUM, connectChromium, NO_CHROMIUM, takeScreenshot } from "../../support/chromium.ts";
import { freePort } from "../../support/free-port.ts";
import { LINKING_SOURCE } from "../../support/paths.ts";
import { type GitHubVendor, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { openActor, type Actor } from "../../support/reference-platform/actor.ts";
import { type ProjectOptions, serverProject, type ServerProject } from "../../support/reference-platform/process.ts";
import { plantSecret } from "../../support/secrets.ts";
import type { ServiceProcess } from "../../support/service-process.ts";
import { startCommand } from "../../support/reference-platform/start-command.ts";

if (CHROMIUM === undefined) console.warn(NO_CHROMIUM);

const SEVERAL = `name: notes
mode: hosted
enable_db: true
service:
  expose: [/.well-known/oauth-authorization-server, /.well-known/oauth-protected-resource,
    /.well-known/oauth-protected-resource/mcp, /authorize, /token, /register, /revoke, /callback,
    /vendors/*, /connect/*, /connections]`;
const PRE_REGISTERED = "name: notes\nmode: pre-registered";

// Each journey starts several processes, one after the other.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let platformUrl: string;
let vendor: GitHubVendor;
let project: ServerProject;
let pages: ServiceProcess;

beforeAll(async () => {
  platformUrl = `http://127.0.0.1:${await freePort()}`;
  const redirectUris = ["callback", "connectors/notes/callback"].map((path) => `${platformUrl}/oauth/${path}`);
  // The callback of a hosted server is on a port that its first deploy finds.
  vendor = await startGitHubVendor({ redirectUris: [...redirectUris, "http://127.0.0.1/callback"] });
});
afterAll(() => vendor.close());

async function begin(yaml: string, options: Partial<ProjectOptions> = {}): Promise<void> {
  project = serverProject({ yaml, env: vendor.env, platformUrl, ...options });
  await project.init();
  pages = await project.serve();
}
afterEach(async () => {
  await pages.stop();
  project.remove();
});

describe.skipIf(CHROMIUM === undefined)("in Chromium", () => {
  const actors: Actor[] = [];
  let browser: Browser;

  beforeAll(async () => {
    browser = await connectChromium();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    const left = actors.splice(0);
    await Promise.all(left.map((actor) => actor.leave()));
    expect(left.flatMap(({ complaints }) => complaints)).toEqual([]);
  });

  const actor = async (name: "Administrator" | "First user" | "Second user"): Promise<Actor> => {
    const opened = await openActor(browser, platformUrl);
    actors.push(opened);
    await opened.signIn(name);
    return opened;
  };
  const shot = async ({ page }: Actor, name: string): Promise<void> => takeScreenshot(page, `journeys/${name}`);

  it("a vendor through the broker, with the customer's own client, cancelled, revoked", async () => {
    const broker = await startBroker();
    // The broker has the vendor's client: the server has none, and validates tokens by requesting
    // the account.
    const { VENDOR_CLIENT_ID: _, VENDOR_CLIENT_SECRET: byocSecret = "", ...rest } = vendor.env;
    const { VENDOR_INTROSPECTION_URL: __, ...env } = rest;
    await begin(PRE_REGISTERED, { env, platformEnv: broker.access });
    const administrator = await actor("Administrator");
    await administrator.saveSettings("notes", {
      Authentication: "OAuth 2.1",
      Registration: "Through the broker",
      "Vendor or issuer": "github",
      "OAuth Scopes": "read:user",
    });
    const running = await project.start();

    const first = await actor("First user");
    await first.open("notes");
    await first.click("Connect");
    // The shared client serves several organizations: the broker names the client that asks.
    await first.sees("The Platform of Acme asks to use your account at GitHub.");
    await first.click("Continue to GitHub");
    await first.answerVendor();
    await first.sees("Connected since");
    expect(await first.callTool()).toContain('"sample-user"');

    await administrator.saveSettings("notes", { "Client ID": BYOC_CLIENT, "Client Secret": byocSecret });
    await first.open("notes");
    await first.sees("Connect again: the client or the endpoints of the connector changed");
    await first.click("Connect again");
    await first.answerVendor();
    await first.sees("Connected since");
    // Tokens of the shared client are no longer used.
    vendor.github.disconnect("user", SHARED_CLIENT);
    expect(await first.callTool()).toContain('"sample-user"');

    await first.follow("Connection");
    await first.click("Connect again");
    await first.answerVendor({ decision: "Cancel" });
    await first.sees("You cancelled at the vendor.");
    const notice = await first.page.getByRole("alert").innerText();
    const flowId = /Error access_denied, flow (\S+),/.exec(notice)?.[1] ?? expect.fail("no flow is named");
    await shot(first, "1-cancelled");
    // The existing connection is unchanged; it also stays when the customer's client is revoked and
    // no user can connect with it.
    expect(await first.callTool()).toContain('"sample-user"');
    broker.revokeByocSecret();
    await first.follow("Connection");
    await first.click("Connect again");
    await first.answerVendor();
    await first.sees("An administrator updates them under Settings.");
    await shot(first, "2-client-revoked");
    expect(await first.callTool()).toContain('"sample-user"');
    await running.stop();
    await broker.close();
    // The user sees the id that the operator searches for.
    expect(JSON.stringify(broker.log())).toContain(flowId);
  });

  it("a server with two vendors: a consent page, and a tool first needs and links the second", async () => {
    const serverUrl = `http://127.0.0.1:${await freePort()}`;
    const given = { OAUTH_MODE: "hosted", VENDORS: "github,slack", OAUTH_DYNAMIC_REGISTRATION: "open" };
    const options = { redirectUri: `${serverUrl}/callback`, homeUrl: platformUrl, serverUrl, name: "Notes" };
    const practice = await startPracticeVendors(given, options);
    const { OAUTH_MODE: _, ...variables } = given;
    const start = startCommand(LINKING_SOURCE);
    await begin(SEVERAL, {
      env: { ...variables, ...practice.environment, VENDOR_SLACK_SCOPES: "users:read chat:write" },
      start,
    });
    await project.claimServerUrl(`${serverUrl}/mcp`);
    const running = await project.start();
    const first = await actor("First user");
    await first.open("notes");
    await first.click("Connect");
    await first.click("Continue to GitHub");
    await first.answerVendor();
    await first.sees("Connected since");
    // The browser stores cookies per host, whatever the port.
    const names = (await first.page.context().cookies(platformUrl)).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([expect.stringMatching(/^platform-session-/), expect.stringMatching(/^notes\./)]),
    );
    expect(await first.callTool("whoami")).toContain('"sample-user"');
    await first.follow("Connection");
    expect(await first.callTool("account_at_slack")).toContain("account_at_slack is waiting for you");
    await shot(first, "3-asked");
    const tab = await first.openAsked("Slack is connected.");
    await takeScreenshot(tab, "journeys/4-linked");
    await first.click("Try again");
    await first.sees("Answer of account_at_slack");
    expect(await first.page.getByRole("status").textContent()).toContain("Sample user");
    // The link is the user's, not the session's: the next connection finds it.
    await first.follow("Connection");
    expect(await first.callTool("account_at_slack")).toContain("Sample user");
    await running.stop();
    await practice.close();
  });
});

const SHARED_CLIENT = "broker-at-the-vendor";
const BYOC_CLIENT = "byoc-at-the-vendor";

/**
 * Two organizations use it, and its client at the vendor; the customer's own client there has only
 * its own redirect URI.
 */
async function startBroker() {
  const url = `http://127.0.0.1:${await freePort()}`;
  const secret = `platform-at-the-broker-${randomBytes(16).toString("hex")}`;
  plantSecret("platform's secret at the broker", secret);
  const env = { PLATFORM_SECRET: secret, VENDOR_SECRET: vendor.env["VENDOR_CLIENT_SECRET"] ?? "" };
  const addClient = (clientId: string, clientSecret: string): void =>
    vendor.github.addClient({ clientId, clientSecret, redirectUris: [`${url}/v1/callback`] });
  for (const clientId of [SHARED_CLIENT, BYOC_CLIENT]) addClient(clientId, env.VENDOR_SECRET);
  const yaml = `base_url: ${url}
listen: { host: 127.0.0.1, port: ${new URL(url).port} }
owners: [{ id: acme, name: Acme }, { id: globex }]
clients:
  - client_id: platform
    name: The Platform
    owner: acme
    client_secret: env:PLATFORM_SECRET
    redirect_uris: [${platformUrl}/oauth/callback]
  - { client_id: other, owner: globex, client_secret: ${randomBytes(32).toString("hex")}, redirect_uris: [https://other.example/back] }
vendors:
  github:
    authorization_endpoint: ${vendor.env["VENDOR_AUTHORIZATION_URL"]}
    token_endpoint: ${vendor.env["VENDOR_TOKEN_URL"]}
    credentials: { client_id: ${SHARED_CLIENT}, client_secret: env:VENDOR_SECRET }
egress: { allow_loopback: true }
`;
  const broker = await startInProcessBroker(yaml, { env });
  const revokeByocSecret = (): void => addClient(BYOC_CLIENT, randomBytes(16).toString("hex"));
  return { ...broker, revokeByocSecret, access: { BROKER_URL: url, BROKER_CLIENT_SECRET: secret } };
}
