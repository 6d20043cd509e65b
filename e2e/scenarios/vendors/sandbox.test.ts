/**
 * The sandbox's vendors as `npm start` offers them: each is connected from the platform's page, and
 * by a program. What else its users can do there: the tests of each vendor.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createBrokerClient, type StartRequest } from "@oauth-broker/broker-client";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { createCookieJar, createVisitor, driveConsent, type CookieJar } from "@oauth-broker/simulators";
import { describe, expect, it } from "vitest";
import { type Answer, basic, send } from "../../support/broker/platform.ts";
import { plantTokens } from "../../support/connect-client/harness.ts";
import { startInProcessSandbox } from "../../support/broker/sandbox.ts";
import { plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";

const broker = shared(startInProcessSandbox);

/** @param user of the platform, whose connections are the same in each of their browsers */
function createActor(user = "first-user", jar: CookieJar = createCookieJar()) {
  // The address is known once the broker has started.
  const visitor = () => createVisitor(broker.home, { jar });
  const actor = {
    /** The platform's page about a vendor. */
    page: async (vendor: string): Promise<string> => {
      const path = `/connectors/${vendor}`;
      const shown = await visitor().get(path);
      if (shown.status === 200) return shown.text();
      await visitor().submit("/", "/sign-in", { user });
      return (await visitor().get(path)).text();
    },
    /** @returns the platform's page once the browser is back there */
    connect: async (vendor: string, form?: Readonly<Record<string, string>>): Promise<string> => {
      await actor.page(vendor);
      const answer = await visitor().submit(`/connectors/${vendor}`, `/connectors/${vendor}/connect`, form);
      const start = new URL(answer.headers.get("location") ?? "", broker.home);
      if (start.origin === broker.home) return actor.page(vendor);
      const callback = await driveConsent(start, {
        cookieJar: jar,
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
const CONNECTIONS: readonly [id: string, about: readonly string[], checkedBy: string][] = [
  ["sandbox", ["api:read", "<code>iss</code>"], "introspection"],
  ["atlassian", ["read:me"], "account"],
  ["github", ["read:user", "repo"], "introspection"],
  ["google-workspace", ["auth/gmail.readonly", "<code>iss</code>"], "introspection"],
  ["linear", ["read", "write"], "introspection"],
  ["microsoft-agent365", ["McpServers.Mail.All", "<code>iss</code>"], "introspection"],
  ["notion", ["default"], "introspection"],
  ["slack", ["users:read", "T0SAMPLE1"], "account"],
];

/** A program's own flow, with the sandbox's client. */
async function connectProgram(vendor: string, more: Partial<StartRequest> = {}) {
  const { BROKER_CLIENT_ID: clientId = "", BROKER_CLIENT_SECRET: clientSecret = "", ...at } = broker.settings;
  plantSecret("client secret", clientSecret);
  const client = createBrokerClient({ issuer: broker.url, clientId, clientSecret, redirectUri: OF_PROGRAMS });
  const wishes: Readonly<Record<string, Partial<StartRequest>>> = {
    atlassian: { resource: `${at["ATLASSIAN_API_URL"]}/v1/mcp/authv2` },
    "microsoft-agent365": { placeholders: { tenant: "organizations" } },
  };
  const { url, session } = await client.start({ vendor, ...wishes[vendor], ...more });
  const account = vendor.startsWith("microsoft") ? "operator" : "user";
  const back = await driveConsent(url, { account, stopAt: ({ href }) => href.startsWith(OF_PROGRAMS) });
  return { client, tokens: plantTokens(await client.finish(back, session)) };
}

it("has these practice vendors", () => {
  const kept = JSON.parse(readFileSync(join(broker.folder, "sandbox-client.json"), "utf8")) as { vendors: string[] };
  expect(kept.vendors.toSorted()).toEqual(CONNECTIONS.map(([id]) => id).toSorted());
});

describe.each(CONNECTIONS)("%s in the sandbox", (vendor, about, checkedBy) => {
  it("connects with the values the page offers", async () => {
    const shown = await createActor().connect(vendor);
    for (const part of ["Your tokens", `<code>${vendor}</code>`, "Vendor data", ...about])
      expect(shown).toContain(part);
    expect(shown.match(/<code>\S{6}…<\/code>/g)).toHaveLength(3);
    expect(broker.lines.filter((line) => line.includes('"warning"'))).toEqual([]);
  });

  it("says whether a program's token is good (#29)", async () => {
    const { client, tokens } = await connectProgram(vendor);
    const { accessToken, connection } = tokens;
    expect(await client.check({ accessToken, connection })).toMatchObject({ active: true, checkedBy });
  });
});

describe("what an organization has to do first", () => {
  it("shows a tenant whose administrator has not consented, and a placeholder that does not fit", async () => {
    const actor = createActor("second-user");
    const page = await actor.page("microsoft-agent365");
    const tenant = /value="([^"]+)"[^>]*>\s*New organization/.exec(page)?.[1] ?? "";
    const refused = await actor.connect("microsoft-agent365", { "placeholder.tenant": tenant });
    for (const part of ["AADSTS90094", "administrator"]) expect(refused).toContain(part);
    const misfit = await actor.connect("microsoft-agent365", { "placeholder.environment_id": "../x" });
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

  it.each([
    ["linear", "client_secret_basic"],
    ["notion", "client_secret_basic"],
    ["atlassian", "client_secret_post"],
    ["sandbox", "client_secret_basic"],
  ])(
    "rfc7591#2 needs no client authentication for %s, whose users connect with that client",
    async (vendor, method) => {
      const { status, body, text } = await register(vendor);
      expect(status, text).toBe(201);
      expect(body).toMatchObject({
        token_endpoint_auth_method: method,
        redirect_uris: [`${broker.url}/v1/callback`],
      });
      const byoc = { clientId: textMember(body, "client_id"), clientSecret: textMember(body, "client_secret") };
      plantSecret("client_secret that was made", byoc.clientSecret);
      expect((await connectProgram(vendor, { byoc })).tokens).toMatchObject({ vendor });
    },
  );

  it("is announced, and takes no wrong credentials for none", async () => {
    const { body } = await send(`${broker.url}/v1/vendors/sandbox`);
    expect(body["capabilities"]).toMatchObject({ dcr: true });
    const wrong = { authorization: basic("platform", "of another broker") };
    expectError(await register("sandbox", wrong), 401, "invalid_client");
  });
});
