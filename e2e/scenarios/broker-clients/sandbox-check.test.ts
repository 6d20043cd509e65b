/** `POST /v1/check` in the sandbox: each practice vendor says whether a token is good (#29). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { createBrokerClient, type BrokerClient, type StartRequest } from "@oauth-broker/broker-client";
import { driveConsent } from "@oauth-broker/simulators";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type InProcessSandbox, startInProcessSandbox } from "../../support/broker/sandbox.ts";
import { plantSecret } from "../../support/secrets.ts";

const REDIRECT_URI = "http://127.0.0.1:3000/oauth/callback";

let broker: InProcessSandbox;
let client: BrokerClient;
let requests: Readonly<Record<string, Omit<StartRequest, "vendor">>>;
let vendors: readonly string[];

beforeAll(async () => {
  broker = await startInProcessSandbox();
  const file = JSON.parse(readFileSync(join(broker.folder, "sandbox-client.json"), "utf8")) as Record<string, string>;
  ({ vendors } = file as unknown as { vendors: readonly string[] });
  const variables = parseEnv(readFileSync(join(broker.folder, "sandbox.env"), "utf8"));
  plantSecret("client secret", file["client_secret"]);
  client = createBrokerClient({
    issuer: broker.url,
    clientId: file["client_id"] ?? "",
    clientSecret: file["client_secret"] ?? "",
    redirectUri: REDIRECT_URI,
  });
  requests = {
    sandbox: { scope: "openid profile" },
    atlassian: { scope: "read:me", resource: `${variables["ATLASSIAN_API_URL"]}/v1/mcp/authv2` },
    github: { scope: "read:user repo" },
    "google-workspace": { scope: "openid email" },
    linear: { scope: "read" },
    "microsoft-agent365": {
      scope: "openid ea9ffc3e-8a23-4a7d-836d-234d7c7565c1/.default",
      placeholders: { tenant: "organizations" },
    },
    notion: { scope: "default" },
    slack: { scope: "users:read" },
  };
});
afterAll(() => broker.stop());

it("has these practice vendors", () => {
  expect([...vendors].sort()).toEqual(Object.keys(requests).sort());
});

it.each([
  ["sandbox", "introspection"],
  ["atlassian", "account"],
  ["github", "introspection"],
  ["google-workspace", "introspection"],
  ["linear", "introspection"],
  ["microsoft-agent365", "introspection"],
  ["notion", "introspection"],
  ["slack", "account"],
])("%s answers by %s, for a live token (#29)", async (vendor, checkedBy) => {
  const { url, session } = await client.start({ vendor, ...requests[vendor] });
  const account = vendor === "microsoft-agent365" ? "operator" : "user";
  const back = await driveConsent(url, { account, stopAt: (at) => at.href.startsWith(REDIRECT_URI) });
  const { accessToken, connection } = await client.finish(back.href, session);
  if (connection === undefined) throw new Error("the broker returns a connection");
  expect(await client.check({ accessToken, connection })).toMatchObject({ active: true, checkedBy });
});
