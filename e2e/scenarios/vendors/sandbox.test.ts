/**
 * The sandbox's vendors as `npm start` offers them: each is connected, refreshed, revoked and
 * cancelled from the platform's page.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createBrokerClient, type StartRequest } from "@oauth-broker/broker-client";
import { expectError } from "@oauth-broker/oauth-core/testing";
import {
  createCookieJar,
  createVisitor,
  driveConsent,
  type CookieJar,
  type DriveConsentOptions,
} from "@oauth-broker/simulators";
import { describe, expect, it } from "vitest";
import { type Answer, basic, send } from "../../support/broker/platform.ts";
import { startInProcessSandbox } from "../../support/broker/sandbox.ts";
import { plantSecret } from "../../support/secrets.ts";
import { shared } from "../../support/shared.ts";

const broker = shared(startInProcessSandbox);

/** A user's browser at the platform. */
interface Actor {
  /** The platform's page about a vendor. */
  page(vendor: string): Promise<string>;
  /** Presses a button of that page. */
  press(vendor: string, action: string, form?: Readonly<Record<string, string>>): Promise<Response>;
  /** @returns the platform's page once the browser is back there */
  connect(vendor: string, options?: ConnectOptions): Promise<string>;
}

interface ConnectOptions {
  readonly decision?: DriveConsentOptions["decision"];
  readonly form?: Readonly<Record<string, string>>;
}

/** @param user of the platform, whose connections are the same in each of their browsers */
function createActor(user = "first-user", jar: CookieJar = createCookieJar()): Actor {
  // The address is known once the broker has started.
  const visitor = () => createVisitor(broker.home, { jar });
  const actor: Actor = {
    page: async (vendor) => {
      const path = `/connectors/${vendor}`;
      const shown = await visitor().get(path);
      if (shown.status === 200) return shown.text();
      await visitor().submit("/", "/sign-in", { user });
      return (await visitor().get(path)).text();
    },
    press: async (vendor, action, form) => {
      await actor.page(vendor);
      return visitor().submit(`/connectors/${vendor}`, `/connectors/${vendor}/${action}`, form);
    },
    async connect(vendor, { decision = "approve", form } = {}) {
      const answer = await actor.press(vendor, "connect", form);
      const start = new URL(answer.headers.get("location") ?? "", broker.home);
      if (start.origin === broker.home) return actor.page(vendor);
      const callback = await driveConsent(start, {
        cookieJar: jar,
        decision,
        stopAt: (url) => url.href.startsWith(`${broker.home}/oauth/callback`),
      });
      plantSecret("broker's code", callback.searchParams.get("code"));
      await visitor().get(callback.href);
      return actor.page(vendor);
    },
  };
  return actor;
}

const OF_PROGRAMS = "http://127.0.0.1:3000/oauth/callback";
const NO_REVOCATION = "unsupported_token_type";
const CONNECTIONS: readonly [id: string, about: readonly string[], revoked: string, checkedBy: string][] = [
  ["sandbox", ["api:read", "<code>iss</code>"], "(token)", "introspection"],
  ["atlassian", ["read:me"], "(token)", "account"],
  ["github", ["read:user", "repo"], "(token)", "introspection"],
  ["google-workspace", ["auth/gmail.readonly", "<code>iss</code>"], "(grant)", "introspection"],
  ["linear", ["read", "write"], "(token)", "introspection"],
  ["microsoft-agent365", ["McpServers.Mail.All", "<code>iss</code>"], "myapps.microsoft.com", "introspection"],
  ["notion", ["default"], "(token)", "introspection"],
  ["slack", ["users:read", "T0SAMPLE1"], "(token)", "account"],
];

it("has these practice vendors", () => {
  const kept = JSON.parse(readFileSync(join(broker.folder, "sandbox-client.json"), "utf8")) as { vendors: string[] };
  expect(kept.vendors.toSorted()).toEqual(CONNECTIONS.map(([id]) => id).toSorted());
});

describe.each(CONNECTIONS)("%s in the sandbox", (vendor, about, revoked, checkedBy) => {
  const actor = createActor();
  const isRevocable = revoked.startsWith("(");

  it("connects with the values the page offers", async () => {
    const shown = await actor.connect(vendor);
    for (const part of ["Your tokens", `<code>${vendor}</code>`, "Vendor data", ...about])
      expect(shown).toContain(part);
    expect(shown.match(/<code>\S{6}…<\/code>/g)).toHaveLength(3);
  });

  it("refreshes", async () => {
    const shown = await (await actor.press(vendor, "refresh")).text();
    expect(shown).toContain("Refreshed: a new access token arrived");
  });

  it("revokes, or says what the actor can do where it cannot", async () => {
    const shown = await (await actor.press(vendor, "revoke", { token: "access_token" })).text();
    expect(shown).toContain(revoked);
    expect(shown.includes(NO_REVOCATION)).toBe(!isRevocable);
    expect(shown.includes(`Revoked at the vendor ${revoked}`)).toBe(isRevocable);
  });

  it("says whether a program's token is good (#29)", async () => {
    const { BROKER_CLIENT_ID: clientId = "", BROKER_CLIENT_SECRET: clientSecret = "", ...at } = broker.settings;
    plantSecret("client secret", clientSecret);
    const client = createBrokerClient({ issuer: broker.url, clientId, clientSecret, redirectUri: OF_PROGRAMS });
    const wishes: Readonly<Record<string, Partial<StartRequest>>> = {
      atlassian: { resource: `${at["ATLASSIAN_API_URL"]}/v1/mcp/authv2` },
      "microsoft-agent365": { placeholders: { tenant: "organizations" } },
    };
    const { url, session } = await client.start({ vendor, ...wishes[vendor] });
    const account = vendor.startsWith("microsoft") ? "operator" : "user";
    const back = await driveConsent(url, { account, stopAt: ({ href }) => href.startsWith(OF_PROGRAMS) });
    const { accessToken, connection } = await client.finish(back, session);
    expect(await client.check({ accessToken, connection })).toMatchObject({ active: true, checkedBy });
  });

  it("calls a cancel access_denied", async () => {
    // When an administrator has allowed the app for all users, no user is asked after signing in.
    const decision = vendor.startsWith("microsoft") ? "cancel-sign-in" : "cancel";
    const shown = await createActor("second-user").connect(vendor, { decision });
    for (const part of ["access_denied", "You cancelled at the vendor"]) expect(shown).toContain(part);
    expect(shown).not.toContain("Your tokens");
  });
});

describe("what an organization has to do first", () => {
  it("shows a tenant whose administrator has not consented, and a placeholder that does not fit", async () => {
    const actor = createActor("second-user");
    const page = await actor.page("microsoft-agent365");
    const tenant = /value="([^"]+)"[^>]*>\s*New organization/.exec(page)?.[1] ?? "";
    const refused = await actor.connect("microsoft-agent365", { form: { "placeholder.tenant": tenant } });
    for (const part of ["AADSTS90094", "administrator"]) expect(refused).toContain(part);
    const misfit = await actor.connect("microsoft-agent365", { form: { "placeholder.environment_id": "../x" } });
    for (const part of ["invalid_request", "environment_id"]) expect(misfit).toContain(part);
  });
});

describe("POST /register in the sandbox", () => {
  const register = (vendor: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    send(`${broker.url}/register`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ vendor }),
    });

  it.each(["linear", "notion", "atlassian", "sandbox"])("needs no client authentication for %s", async (vendor) => {
    const { status, body, text } = await register(vendor);
    expect(status, text).toBe(201);
    expect(body).toMatchObject({ client_id: expect.any(String), redirect_uris: [`${broker.url}/v1/callback`] });
    plantSecret("client_secret that was made", String(body["client_secret"]));
  });

  it("is announced, and takes no wrong credentials for none", async () => {
    const { body } = await send(`${broker.url}/v1/vendors/sandbox`);
    expect(body["capabilities"]).toMatchObject({ dcr: true });
    const wrong = { authorization: basic("platform", "of another broker") };
    expectError(await register("sandbox", wrong), 401, "invalid_client");
  });
});
