/**
 * A hosted server, and what no well-behaved client sends: body sizes, calls of /mcp,
 * and one journey per endpoint on which something goes wrong. No call is a server error, and none
 * bypasses the token check. Each way in which a request can be wrong is in the tests beside the
 * endpoint's code.
 */
import { expectError, expectPage } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { callTool, connectClient, postWhoami } from "../../support/mcp/client.ts";
import { useHostedHarness, VERIFIER } from "../../support/mcp/hosted-harness.ts";
import { PLATFORM_CALLBACK } from "../../support/mcp/process.ts";
import type { Answer } from "../../support/broker/platform.ts";
import { exchange } from "../../support/raw-http.ts";

const harness = useHostedHarness();

it("bar#AS-1 bar#AS-2 /authorize answers a page, then redirects once the redirect URI is known", async () => {
  expectPage(await harness().authorize({ redirect_uri: `${PLATFORM_CALLBACK}/` }), 400);
  const answer = await harness().authorize({ code_challenge: undefined });
  const { error_description: _, ...rest } = Object.fromEntries(
    new URL(answer.headers.get("location") ?? "").searchParams,
  );
  expect([answer.status, rest]).toEqual([303, { error: "invalid_request", state: "a state" }]);
});

it("bar#AS-3 bar#AS-4 bar#AS-6 /token spends a code once, for its verifier, and on no mistake", async () => {
  const { platform, vendor, server, post } = harness();
  const { url, codeVerifier } = await platform.toVendor({ account: "operator" });
  const redeem = (code_verifier: string, redirect_uri = PLATFORM_CALLBACK): Promise<Answer> =>
    post("/token", {
      grant_type: "authorization_code",
      code: url.searchParams.get("code") ?? "",
      code_verifier,
      redirect_uri,
    });
  const live = vendor.github.liveTokens();
  expectError(await redeem(codeVerifier, "https://evil.example/"), 400, "invalid_grant");
  expectError(await redeem(VERIFIER), 400, "invalid_grant");
  expect(vendor.github.liveTokens()).toEqual(live);
  const { status, body } = await redeem(codeVerifier);
  expect(status).toBe(200);
  expectError(await redeem(codeVerifier), 400, "invalid_grant");
  expect((await postWhoami(server.mcp, String(body["access_token"]))).status).toBe(401);
});

it("bar#AS-14 /token gives twenty refreshes at once one answer; a grandparent ends all", async () => {
  const { platform, server, post } = harness();
  const first = await platform.connect("operator");
  const refresh = (refresh_token: string): Promise<Answer> =>
    post("/token", { grant_type: "refresh_token", refresh_token });
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(first.refreshToken)));
  expect(new Set(answers.map(({ status, body }) => `${status} ${String(body["refresh_token"])}`)).size).toBe(1);
  const third = await platform.refresh(String(answers[0]?.body["refresh_token"]));
  expectError(await refresh(first.refreshToken), 400, "invalid_grant");
  expect((await postWhoami(server.mcp, third.accessToken)).status).toBe(401);
  expectError(await refresh(third.refreshToken), 400, "invalid_grant");
});

it("bar#AS-11 bar#AS-21 /register refuses a foreign URI, /revoke ends no unknown token", async () => {
  const foreign = JSON.stringify({ redirect_uris: ["https://evil.example/"] });
  const json = { "content-type": "application/json" };
  expectError(await harness().post("/register", foreign, json), 400, "invalid_redirect_uri");
  expect((await harness().post("/revoke", { token: "unknown-token" })).status).toBe(200);
});

describe("bar#HT-1 sizes", () => {
  const port = (): number => Number(new URL(harness().server.url).port);
  const head = (line: string, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, `Host: 127.0.0.1:${port()}`, ...headers, "", ""].join("\r\n");
  const form = "Content-Type: application/x-www-form-urlencoded";
  const json = "Content-Type: application/json";

  const ofUser = (line: string, type: string, ...length: string[]): string => {
    const authorization = `Authorization: Bearer ${harness().tokens.accessToken}`;
    return head(line, type, authorization, "Accept: application/json, text/event-stream", ...length);
  };

  it.each([
    ["POST /token", form, 65_537],
    ["POST /revoke", form, 65_537],
    ["POST /register", json, 65_537],
    ["POST /mcp", json, 1024 * 1024 + 1],
  ])("%s, %s, of %i bytes is 413 by its length", async (line, type, length) => {
    const bytes = ofUser(line, type, `Content-Length: ${length}`);
    expect((await exchange({ port: port(), bytes, untilAnswer: true })).status).toBe(413);
  });

  it.each([
    ["POST /token", form],
    ["POST /mcp", json],
  ])("%s, %s, without a length is 413 or cut off by counting", async (line, type) => {
    const bytes = ofUser(line, type, "Transfer-Encoding: chunked");
    const endless = `4000\r\n${"a".repeat(0x4000)}\r\n`;
    const answer = await exchange({ port: port(), bytes, endless, timeoutMs: 20_000 });
    expect([413, 0]).toContain(answer.status);
    // The connection is looked at every 5 ms; without that the library takes 64 MiB and more.
    expect(answer.bytesSent).toBeLessThan(48 * 1024 * 1024);
  });

  it("a body to /mcp without a token is not read: 401, whatever its size", async () => {
    const bytes = head("POST /mcp", json, "Content-Length: 104857600");
    expect((await exchange({ port: port(), bytes, untilAnswer: true })).status).toBe(401);
  });

  it("headers beyond 32 KiB are 431, and a token of 12 kB is just a wrong one", async () => {
    const long = head("POST /mcp", `Authorization: Bearer ${"a".repeat(40_000)}`, "Content-Length: 0");
    expect((await exchange({ port: port(), bytes: long, untilAnswer: true })).status).toBe(431);
    expect((await postWhoami(harness().server.mcp, "a".repeat(12_000))).status).toBe(401);
  });

  it("a call of just under 1 MB is served", async () => {
    const client = await connectClient(harness().server.mcp, harness().tokens.accessToken);
    const url = `${harness().vendor.github.url}/user/repos?x=${"a".repeat(10_000)}`;
    await callTool(client, "list_pages", { url, pages: 1 });
    await client.close();
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/list",
      params: { _meta: { pad: "a".repeat(1_000_000) } },
    });
    expect((await postWhoami(harness().server.mcp, harness().tokens.accessToken, { body })).status).toBe(200);
  });
});

describe("POST /mcp with a good token", () => {
  const call = (body: string, headers: Readonly<Record<string, string>> = {}) =>
    postWhoami(harness().server.mcp, harness().tokens.accessToken, { body, headers });

  it.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["null", "null"],
    ["a number", "1"],
    ["JSON a million levels deep", "[".repeat(500_000)],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"tools/list"}'],
    ["a method that does not exist", '{"jsonrpc":"2.0","id":1,"method":"__proto__"}'],
    [
      "a tool that is a member of every object",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"constructor","arguments":{}}}',
    ],
    [
      "an input with a prototype",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_pages","arguments":{"__proto__":{"url":"https://api.github.com"},"pages":1e99}}}',
    ],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]).toString("latin1")],
  ])("%s is an answer of the protocol, never a fault", async (_, body) => {
    const { status, text } = await call(body);
    expect([status, status < 500, text.includes("at ")]).toEqual([status, true, false]);
    expect(text.length).toBeLessThan(4_000);
  });

  it("bar#RS-5 a session id does not authenticate the caller, and opens nothing by itself", async () => {
    const other = await harness().platform.connect("operator");
    const first = await postWhoami(harness().server.mcp, other.accessToken);
    expect(first.headers.has("mcp-session-id")).toBe(false);
    for (const id of ["1", other.accessToken, "operator"]) {
      const headers = { "mcp-session-id": id };
      expect((await postWhoami(harness().server.mcp, undefined, { headers })).status).toBe(401);
      const mine = await postWhoami(harness().server.mcp, harness().tokens.accessToken, { headers });
      expect([mine.text.includes("sample-user"), mine.text.includes("sample-operator")]).toEqual([true, false]);
    }
  });

  it("two Authorization headers are one wrong one, in either order", async () => {
    const { host, port } = new URL(harness().server.url);
    for (const [first, second] of [
      ["unknown-token", harness().tokens.accessToken],
      [harness().tokens.accessToken, "unknown-token"],
    ]) {
      const lines = [
        "POST /mcp HTTP/1.1",
        `Host: ${host}`,
        `Authorization: Bearer ${first}`,
        `Authorization: Bearer ${second}`,
      ];
      const bytes = [
        ...lines,
        "Content-Type: application/json",
        "Content-Length: 2",
        "Connection: close",
        "",
        "{}",
      ].join("\r\n");
      const answer = await exchange({ port: Number(port), bytes });
      expect(answer.status).toBe(401);
    }
  });

  it("the progress a client asks for, by a token of any shape, breaks nothing", async () => {
    const shapes = ['"a"', "0", "-1", '"__proto__"', "1e300", '"\\u0000"'];
    for (const progressToken of shapes) {
      const url = `${harness().vendor.github.url}/user/repos?per_page=1`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_pages","arguments":{"url":"${url}"},"_meta":{"progressToken":${progressToken}}}}`;
      expect((await call(body)).status).toBeLessThan(500);
    }
  });
});
