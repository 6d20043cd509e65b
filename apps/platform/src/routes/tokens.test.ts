import { createHash } from "node:crypto";
import {
  callbackOf,
  createFakeBroker,
  networkFailure,
  PLATFORM,
  refusal,
  TOKEN_ANSWER,
} from "@oauth-broker/broker-client/testing";
import { Secret } from "@oauth-broker/oauth-core";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import type { NewConnector } from "../connectors/connector.ts";
import { openTestPlatform } from "../testing/test-visitor.ts";

const settings = { authentication: "oauth_2_1", registration: "broker" } as const;
const CONNECTORS: readonly NewConnector[] = [
  {
    id: "sandbox",
    name: "Sandbox vendor",
    settings: { ...settings, vendorOrIssuer: "sandbox", scopes: "openid api:read" },
    withoutServer: { about: "The first", asked: [], request: { prompt: "login" } },
  },
  {
    id: "other",
    name: "Other vendor",
    settings: { ...settings, vendorOrIssuer: "other", scopes: "read" },
    withoutServer: {
      about: "The second",
      asked: [
        { name: "tenant", label: "Tenant", value: "all", choices: [{ value: "all", label: "All" }] },
        { name: "place", label: "Place", value: "first" },
      ],
      request: { resource: "https://mcp.other.example" },
    },
  },
];
const CLAIMS = Buffer.from(JSON.stringify({ iss: "https://vendor.example", sub: "user-1" })).toString("base64url");
const ID_TOKEN = `e30.${CLAIMS}.x`;

const broker = ofEachTest(createFakeBroker);
const test = ofEachTest(() =>
  openTestPlatform(undefined, {
    broker: { ...PLATFORM, clientSecret: new Secret(PLATFORM.clientSecret) },
    timeline: async (flowId) => [
      { leg: "spent", at: 1_700_000_000, checks: ["code used once"] },
      { leg: "pushed", at: 1_700_000_000, checks: [`PKCE of ${flowId}`] },
    ],
    fetch: broker.fetch,
  }),
);
const user = ofEachTest(() => test.visitor());
beforeEach(async () => {
  answerToken({ vendor_id_token: ID_TOKEN });
  broker.answers.set("/v1/revoke", () => Response.json({ revoked: "grant" }));
  for (const connector of CONNECTORS) {
    // oxlint-disable-next-line no-await-in-loop -- they share a list
    await test.desk.connectors.create(connector);
  }
  await user.signIn("first-user");
});

const answerToken = (more: object): unknown =>
  broker.answers.set("/v1/token", () => Response.json({ ...TOKEN_ANSWER, ...more }));
const called = (): readonly string[] => broker.asked.map(({ path }) => path).filter((path) => path.startsWith("/v1/"));
const formOf = (path: string): Record<string, string> =>
  Object.fromEntries(broker.asked.findLast((asked) => asked.path === path)?.body ?? []);
const pageOf = async (id: string): Promise<string> => (await user.get(`/connectors/${id}`)).text();
const press = (id: string, action: string, fields: Record<string, string> = {}): Promise<Response> =>
  user.submit(`/connectors/${id}`, `/connectors/${id}/${action}`, fields);

/** Clicks Connect; the broker sends the browser back with `members`. @returns the page after it */
async function connect(id = "sandbox", members: Record<string, string> = {}, typed = {}): Promise<string> {
  await press(id, "connect", typed);
  const { search } = callbackOf(formOf("/v1/par")["state"] ?? "", {
    code: "broker-code",
    flow_id: "flow-1",
    ...members,
  });
  await user.get(`/oauth/callback${search}`);
  return pageOf(id);
}

function expectAll(shown: string, parts: readonly string[]): void {
  for (const part of parts) expect(shown).toContain(part);
}

describe("a connector without a server", () => {
  it("is listed with a line about its vendor, and has no tools to try", async () => {
    expectAll(await (await user.get("/connectors")).text(), ["The first", "Not connected", "Active"]);
    const shown = await pageOf("sandbox");
    expect(shown).not.toContain("Not deployed");
    expect(shown).not.toContain("/try");
  });

  it("pushes the request with PKCE and the platform's credentials, and sends the browser to the broker", async () => {
    const answer = await press("sandbox", "connect");
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(/^https:\/\/broker\.example\/v1\/authorize\?client_id=/);
    expect(formOf("/v1/par")).toMatchObject({
      vendor: "sandbox",
      scope: "openid api:read",
      prompt: "login",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(formOf("/v1/par")).not.toHaveProperty("placeholders");
    expect(broker.asked.at(-1)?.headers.get("authorization")).toMatch(/^Basic /);
  });

  it("redeems with the verifier whose challenge was pushed", async () => {
    await connect();
    const { code_verifier: verifier = "", code } = formOf("/v1/token");
    expect(formOf("/v1/par")["code_challenge"]).toBe(createHash("sha256").update(verifier).digest("base64url"));
    expect(code).toBe("broker-code");
  });

  it.each([
    ["what was filled in", { "placeholder.place": " second ", "placeholder.tenant": "" }, "second"],
    ["what is offered", {}, "first"],
  ])("pushes %s", async (_what, typed, place) => {
    expectAll(await pageOf("other"), ["Tenant", "Place", 'value="first"']);
    await press("other", "connect", typed);
    expect(formOf("/v1/par")).toMatchObject({ scope: "read", resource: "https://mcp.other.example" });
    expect(JSON.parse(formOf("/v1/par")["placeholders"] ?? "")).toEqual({ tenant: "all", place });
  });
});

describe("the page after connecting", () => {
  it("shows the tokens masked, who signed in, and every leg in order", async () => {
    const shown = await connect();
    expectAll(shown, ["vendor…", "19 characters", "https://vendor.example", "user-1", "flow-1"]);
    expect(shown, "a second may have passed").toMatch(/(?:59|60) minutes/);
    expectAll(shown, ["PKCE of flow-1", "iss is the broker", "ID token verified by the broker"]);
    const { access_token, refresh_token, connection } = TOKEN_ANSWER;
    for (const secret of [access_token, refresh_token, connection, ID_TOKEN]) expect(shown).not.toContain(secret);
    const legs = ["prepares the", "accepts the", "back at the", "redeems the", "receives the"].map((leg) =>
      shown.indexOf(leg),
    );
    expect(legs).toEqual(legs.toSorted((a, b) => a - b));
    expect(legs).not.toContain(-1);
  });

  it("shows nothing of it to another user", async () => {
    await connect();
    const other = test.visitor();
    await other.signIn("second-user");
    const shown = await (await other.get("/connectors/sandbox")).text();
    for (const text of ["vendor…", "flow-1", "Your tokens"]) expect(shown).not.toContain(text);
  });

  it("shows what else the vendor said, without its tags", async () => {
    answerToken({ vendor_data: { team: { id: "<T1>" } } });
    const shown = await connect();
    expect(shown).toContain("&lt;T1&gt;");
    expect(shown).not.toContain("<T1>");
  });

  it("does not redeem a code that another issuer sent, and claims no check of it", async () => {
    const shown = await connect("sandbox", { iss: "https://other.example" });
    expect(shown).toContain("invalid_callback");
    expect(shown).not.toContain("iss is the broker");
    expect(called()).toEqual(["/v1/par"]);
  });

  it("shows a cancel with its flow, and what was checked until then", async () => {
    await press("sandbox", "connect");
    const back = { error: "access_denied", error_description: "The user cancelled", flow_id: "flow-2" };
    await user.get(`/oauth/callback${callbackOf(formOf("/v1/par")["state"] ?? "", back).search}`);
    const shown = await pageOf("sandbox");
    expectAll(shown, ["access_denied", "You cancelled", "flow-2", "PKCE of flow-2", "back at the platform"]);
    expect(shown).not.toContain("receives the tokens");
  });

  it("shows the vendor's own code", async () => {
    const refused = { error: "server_error", error_description: "Not yet", vendor_error: "AADSTS<1>" };
    broker.answers.set("/v1/token", refusal(502, refused));
    expectAll(await connect(), ["server_error", "Not yet", "AADSTS&lt;1&gt;"]);
    broker.answers.set("/v1/token", networkFailure);
    expectAll(await connect(), ["The broker cannot be reached. Wait a moment, then connect again."]);
  });
});

describe("refresh and revoke", () => {
  it("sends the refresh token with its connection and shows what came", async () => {
    await connect();
    answerToken({ access_token: "second-token", refresh_token: "second-refresh" });
    expectAll(await (await press("sandbox", "refresh")).text(), ["second…", "rotated"]);
    const { refresh_token, connection } = TOKEN_ANSWER;
    expect(formOf("/v1/token")).toMatchObject({ grant_type: "refresh_token", refresh_token, connection });
  });

  it.each(["access_token", "refresh_token"] as const)(
    "revokes the %s, and a refresh is then refused",
    async (token) => {
      await connect();
      expectAll(await (await press("sandbox", "revoke", { token })).text(), ["Revoked", "(grant)"]);
      expect(formOf("/v1/revoke")).toMatchObject({
        token: TOKEN_ANSWER[token],
        token_type_hint: token,
        connection: TOKEN_ANSWER.connection,
      });
      expect(await pageOf("sandbox")).toContain("<dt>Revoked</dt>");
      broker.answers.set("/v1/token", refusal(400, { error: "invalid_grant", error_description: "Gone" }));
      expectAll(await (await press("sandbox", "refresh")).text(), ["invalid_grant", "Connect again"]);
      expect(await pageOf("sandbox")).not.toContain("Your tokens");
    },
  );

  it("shows what the user can do if a vendor cannot revoke", async () => {
    await connect();
    const refused = { error: "unsupported_token_type", error_description: "No way", help: "Open the settings there" };
    broker.answers.set("/v1/revoke", refusal(400, refused));
    const shown = await (await press("sandbox", "revoke", { token: "access_token" })).text();
    expectAll(shown, ["unsupported_token_type", "Open the settings there"]);
    expect(shown).not.toContain("<dt>Revoked</dt>");
  });

  it("offers no refresh without a refresh token", async () => {
    answerToken({ refresh_token: undefined });
    const shown = await connect();
    expect(shown).toContain("Revoke access token");
    expect(shown).not.toContain("/refresh");
  });

  it("does nothing with tokens that are gone", async () => {
    await connect();
    const page = await pageOf("sandbox");
    const [, csrf = ""] = /\/refresh">\s*<input[^>]*value="([^"]+)"/.exec(page) ?? [];
    await press("sandbox", "disconnect");
    const count = broker.asked.length;
    expect((await user.post("/connectors/sandbox/refresh", { csrf })).status).toBe(200);
    expect(broker.asked).toHaveLength(count);
  });
});
