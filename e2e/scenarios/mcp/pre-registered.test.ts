/**
 * The template in pre-registered mode, as a process: the platform has the user's vendor token and
 * sends it with every call; the server validates it at the vendor, stores nothing, and is not an
 * authorization server.
 */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { callTool, connectClient, ERAS, postWhoami } from "../../support/mcp/client.ts";
import { type McpServer, PLATFORM_CALLBACK, startMcpServer } from "../../support/mcp/process.ts";
import { type GitHubVendor, OTHER_CLIENT, OUR_CLIENT, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { send } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";

let vendor: GitHubVendor;
let server: McpServer;
let token: string;

beforeAll(async () => {
  vendor = await startGitHubVendor();
  server = await startMcpServer({
    OAUTH_MODE: "pre-registered",
    PORT: String(await freePort()),
    PLATFORM_OAUTH_CALLBACK_URL: PLATFORM_CALLBACK,
    ...vendor.env,
  });
  token = await vendor.obtainToken();
});
// `stop` fails when the output contains a token, code or secret.
afterAll(async () => {
  await server.stop();
  await vendor.close();
});

const checks = (): number => vendor.github.requests().filter(({ path }) => path.startsWith("/applications/")).length;

describe.each(ERAS)("a stock %s client with the user's vendor token", (era) => {
  it("gets the account as JSON text", async () => {
    const client = await connectClient(server.mcp, token, era);
    expect((await client.listTools()).tools.map(({ name }) => name).toSorted()).toEqual(["list_pages", "whoami"]);
    const { value } = await callTool(client, "whoami");
    expect(value).toMatchObject({ id: 1, login: "sample-user" });
    await client.close();
  });

  it("lists what comes in pages, and receives progress", async () => {
    const client = await connectClient(server.mcp, token, era);
    const heard: number[] = [];
    const result = await client.callTool(
      { name: "list_pages", arguments: { url: `${vendor.github.url}/user/repos?per_page=2`, pages: 2 } },
      { onprogress: ({ progress }) => void heard.push(progress) },
    );
    const [{ text = "" } = {}] = result.content as readonly { readonly text?: string }[];
    const { items, hasMore } = JSON.parse(text) as { readonly items: readonly object[]; readonly hasMore: boolean };
    expect([items.length, hasMore, heard]).toEqual([4, true, [1, 2]]);
    await client.close();
  });
});

it("two users at the same time each get their own account", async () => {
  const other = await vendor.obtainToken({ account: "operator" });
  const clients = await Promise.all([token, other].map(async (one) => connectClient(server.mcp, one)));
  const calls = Array.from({ length: 40 }, (_, index) => callTool(clients[index % 2]!, "whoami"));
  const logins = (await Promise.all(calls)).map(({ value }) => value["login"]);
  expect(logins).toEqual(
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? "sample-user" : "sample-operator")),
  );
  await Promise.all(clients.map((client) => client.close()));
});

describe("what is not there", () => {
  it.each([
    ["GET", "/.well-known/oauth-authorization-server"],
    ["GET", "/.well-known/openid-configuration"],
    ["GET", "/.well-known/oauth-protected-resource"],
    ["GET", "/.well-known/oauth-protected-resource/mcp"],
    ["GET", "/authorize"],
    ["POST", "/authorize"],
    ["POST", "/token"],
    ["POST", "/register"],
    ["POST", "/revoke"],
    ["GET", "/callback"],
    ["POST", "/callback"],
  ])("%s %s is 404, with a token and without", async (method, path) => {
    const withToken = await send(`${server.url}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
    expect([(await send(`${server.url}${path}`, { method })).status, withToken.status]).toEqual([404, 404]);
  });

  it("is a file: nothing is stored", () => {
    expect(readdirSync(server.folder)).toEqual([]);
  });
});

describe("bar#RS-1 bar#RS-2 a call", () => {
  it("without a token is 401 with a challenge that names neither an error nor metadata", async () => {
    const { status, headers } = await postWhoami(server.mcp, undefined);
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe('Bearer scope="read:user"');
  });

  it.each([
    ["that was never issued", () => "gho_0123456789abcdefghijklmnopqrstuvwxyz"],
    ["that is cut short", () => token.slice(0, -1)],
    ["in other letters", () => token.toUpperCase()],
    ["that is a forged JWT", () => "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."],
  ])("with a token %s is 401 invalid_token", async (_, value) => {
    plantSecret("refused token", value());
    const { status, headers } = await postWhoami(server.mcp, value());
    expect([status, headers.get("www-authenticate")?.includes('error="invalid_token"')]).toEqual([401, true]);
  });

  it("with a good token of another app is 401: that app's operator could hold it", async () => {
    const foreign = await vendor.obtainToken({ clientId: OTHER_CLIENT });
    expect(vendor.github.isLive(foreign)).toBe(true);
    expect((await postWhoami(server.mcp, foreign)).status).toBe(401);
  });

  it("bar#RS-4 with a good token in the query or the body is 401", async () => {
    expect((await postWhoami(`${server.mcp}?access_token=${token}`, undefined)).status).toBe(401);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const init = { headers, body: new URLSearchParams({ access_token: token }) };
    expect((await postWhoami(server.mcp, undefined, init)).status).toBe(401);
  });
});

it("asks the vendor once for a burst of calls", async () => {
  const fresh = await vendor.obtainToken();
  const before = checks();
  const answers = await Promise.all(Array.from({ length: 20 }, async () => postWhoami(server.mcp, fresh)));
  expect([new Set(answers.map(({ status }) => status)), checks() - before]).toEqual([new Set([200]), 1]);
});

it("a vendor that refuses the token inside a tool is a tool error, and the next request is 401", async () => {
  const ending = await vendor.obtainToken({ account: "operator" });
  expect((await postWhoami(server.mcp, ending)).status).toBe(200);
  vendor.github.disconnect("operator", OUR_CLIENT);
  const inside = await postWhoami(server.mcp, ending);
  expect([inside.status, inside.text.includes("connect GitHub again")]).toEqual([200, true]);
  expect((await postWhoami(server.mcp, ending)).status).toBe(401);
});

it("a vendor that is down is 503 with Retry-After, is not cached, and ends no session", async () => {
  const fresh = await vendor.obtainToken();
  vendor.github.faultNext(`/applications/${OUR_CLIENT}/token`, { kind: "drop" });
  const down = await postWhoami(server.mcp, fresh);
  expect([down.status, down.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
  expect((await postWhoami(server.mcp, fresh)).status).toBe(200);
});

it("a vendor outage after the check is a tool error, and the next call works", async () => {
  expect((await postWhoami(server.mcp, token)).status).toBe(200);
  vendor.github.faultNext("/user", { kind: "answer", status: 502, body: "<h1>Bad gateway</h1>" });
  const answer = await postWhoami(server.mcp, token);
  expect([answer.status, answer.text.includes('"isError":true'), answer.text.includes("<h1>")]).toEqual([
    200,
    true,
    false,
  ]);
  expect((await postWhoami(server.mcp, token)).text).not.toContain("isError");
});

it("sends the token to no host but the vendor's, whatever URL the model writes", async () => {
  const client = await connectClient(server.mcp, token);
  const port = new URL(vendor.github.url).port;
  const elsewhere = [
    "https://evil.example/user/repos",
    "https://api.github.com.evil.example/",
    "https://user:pass@evil.example/",
    `http://127.0.0.1:${new URL(server.url).port}/mcp`,
    `http://localhost:${port}/user/repos`,
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/",
    "https://api.github.com\\@evil.example/",
  ];
  for (const url of elsewhere) {
    const answer = await callTool(client, "list_pages", { url });
    expect([url, answer.isError], answer.text).toEqual([url, true]);
    expect(answer.text).not.toContain(token);
  }
  await client.close();
});

it("says on /healthz what its bearer tokens are", async () => {
  const { body } = await send(`${server.url}/healthz`);
  expect(body).toEqual({ status: "ok", mode: "pre-registered", bearer: "vendor_token_of_the_user" });
});
