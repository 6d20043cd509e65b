/**
 * The platform's journey from a service.yaml to an agent's call: the deploy command, the pages and
 * the server are processes, and users and administrators act in Chromium. That of a server with two
 * vendors: ../delivery/tour.test.ts.
 */
import { randomBytes } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { startInProcessBroker } from "../../support/broker/in-process.ts";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { freePort } from "../../support/free-port.ts";
import { type GitHubVendor, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { openActor, type Actor } from "../../support/reference-platform/actor.ts";
import { serverProject } from "../../support/reference-platform/process.ts";
import { plantSecret } from "../../support/secrets.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const PRE_REGISTERED = "name: notes\nmode: pre-registered";

// The journey starts several processes, one after the other.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

describe.skipIf(CHROMIUM === undefined)("in Chromium", () => {
  const browser = shared(connectChromium);
  const vendor = shared(async () => {
    const platformUrl = `http://127.0.0.1:${await freePort()}`;
    return { ...(await startGitHubVendor({ redirectUris: [`${platformUrl}/oauth/callback`] })), platformUrl };
  });

  const openAs = async (name: "Administrator" | "First user"): Promise<Actor> => {
    const actor = await openActor(browser, vendor.platformUrl);
    await actor.signIn(name);
    return actor;
  };
  const shot = async ({ page }: Actor, name: string): Promise<void> => takeScreenshot(page, `journeys/${name}`);

  it("a vendor through the broker, with the customer's own client, cancelled, revoked", async () => {
    const broker = await startBroker(vendor);
    // The broker has the vendor's client: the server has none, and validates tokens by requesting
    // the account.
    const { VENDOR_CLIENT_ID: _, VENDOR_CLIENT_SECRET: byocSecret = "", ...rest } = vendor.env;
    const { VENDOR_INTROSPECTION_URL: __, ...env } = rest;
    const project = serverProject({
      yaml: PRE_REGISTERED,
      env,
      platformUrl: vendor.platformUrl,
      platformEnv: broker.access,
    });
    await project.init();
    const pages = await project.serve();
    const administrator = await openAs("Administrator");
    await administrator.saveSettings("notes", {
      Authentication: "OAuth 2.1",
      Registration: "Through the broker",
      "Vendor or issuer": "github",
      "OAuth Scopes": "read:user",
    });
    const running = await project.start();

    const first = await openAs("First user");
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
    await first.answerVendor("Cancel");
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
    expect([...administrator.complaints, ...first.complaints]).toEqual([]);
    await running.stop();
    await pages.stop();
    await broker.close();
    // The user sees the id that the operator searches for.
    expect(JSON.stringify(broker.log())).toContain(flowId);
  });
});

const SHARED_CLIENT = "broker-at-the-vendor";
const BYOC_CLIENT = "byoc-at-the-vendor";

/**
 * Two organizations use it, and its client at the vendor; the customer's own client there has only
 * its own redirect URI.
 */
async function startBroker(vendor: GitHubVendor & { readonly platformUrl: string }) {
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
    redirect_uris: [${vendor.platformUrl}/oauth/callback]
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
