/**
 * Registration at the first-class vendors that offer it, against their simulators: a broker without
 * any credentials for them, a platform that registers, and a user who connects with the new client.
 */
import {
  type AtlassianSimulator,
  startAtlassian,
  startLinear,
  startNotion,
  type VendorSimulator,
} from "@oauth-broker/simulators/vendors";
import { expectError } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokerYaml, createSecrets } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { type InProcessBroker, startInProcessBroker } from "../../support/broker/in-process.ts";
import { type Answer, basic, createPlatform, type Platform, send } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";

const secrets = createSecrets();
const vendors = new Map<string, VendorSimulator>();
let atlassian: AtlassianSimulator;
let baseUrl: string;
let broker: InProcessBroker;
let platform: Platform;

beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${await freePort()}`;
  atlassian = await startAtlassian();
  for (const vendor of [await startLinear(), await startNotion(), atlassian]) {
    vendors.set(vendor.id, vendor);
  }
  const entries = [...vendors].map(([id, { endpoints }]) => {
    const fields = Object.entries(endpoints).map(([name, value]) => `    ${name}: "${value}"`);
    return [`  ${id}:`, ...fields].join("\n");
  });
  broker = await startInProcessBroker(
    brokerYaml({ baseUrl, secrets, issuer: "http://127.0.0.1:9", vendors: `\n${entries.join("\n")}` }),
  );
  platform = createPlatform({ baseUrl, clientSecret: secrets.platform });
});
afterAll(async () => {
  for (const vendor of vendors.values()) for (const token of vendor.liveTokens()) plantSecret("token", token);
  await broker.close();
  await Promise.all([...vendors.values()].map((vendor) => vendor.close()));
});

async function register(vendor: string): Promise<Answer> {
  const answer = await send(`${baseUrl}/register`, {
    method: "POST",
    headers: { authorization: basic("platform", secrets.platform), "content-type": "application/json" },
    body: JSON.stringify({ vendor }),
  });
  const secret = answer.body["client_secret"];
  if (typeof secret === "string") plantSecret("client_secret that was made", secret);
  return answer;
}

/** A client is bound to its authentication method, so it must be the one that flows use there. */
const REGISTERING: readonly [id: string, method: string, scope: string][] = [
  ["linear", "client_secret_basic", "read write"],
  ["notion", "client_secret_basic", "default"],
  ["atlassian", "client_secret_post", "read:me"],
];

describe.each(REGISTERING)("%s", (id, method, scope) => {
  it("rfc7591#2 makes a client with the broker's authentication, and a user connects with it", async () => {
    const { status, body, text } = await register(id);
    expect(status, text).toBe(201);
    expect(body).toMatchObject({
      redirect_uris: [`${baseUrl}/v1/callback`],
      token_endpoint_auth_method: method,
      client_secret: expect.any(String),
    });
    const own = {
      vendor: id,
      vendor_client_id: textMember(body, "client_id"),
      vendor_client_secret: textMember(body, "client_secret"),
    };
    const flow = await platform.toPlatform({
      form: { ...own, scope, ...(id === "atlassian" ? { resource: atlassian.mcpServer } : {}) },
    });
    const tokens = await platform.redeem(flow);
    expect(tokens.status, tokens.text).toBe(200);
    expect(tokens.body).toMatchObject({ access_token: expect.any(String), vendor: id });
    for (const name of ["access_token", "refresh_token", "connection"]) {
      if (tokens.body[name] !== undefined) plantSecret(name, textMember(tokens.body, name));
    }
  });
});

it.each(["linear", "notion"])("rfc7591#3.2.2 passes on each refusal that %s is known for", async (id) => {
  const vendor = vendors.get(id);
  const refusals = vendor?.errors.registration ?? [];
  expect(refusals.length).toBeGreaterThan(0);
  for (const refusal of refusals) {
    vendor?.refuseNext("registration", refusal);
    const answer = await register(id);
    expect(answer.status, refusal).toBeGreaterThanOrEqual(400);
    expect(answer.text, refusal).toContain(refusal);
    expect(answer.headers.has("retry-after")).toBe(false);
  }
});

it.each(["slack", "google-workspace", "microsoft-agent365", "github"])(
  "%s registers no clients: its entry",
  async (id) => {
    expect(expectError(await register(id), 400, "invalid_request")["reason"]).toBe("registration_not_supported");
  },
);
