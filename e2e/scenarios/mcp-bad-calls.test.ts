/**
 * Body sizes and calls of /mcp that no client library makes, at a hosted server: no call is a
 * server error, and none bypasses the token check.
 */
import { describe, expect, it } from "vitest";
import { callTool, connectClient, postWhoami } from "../support/mcp-client.ts";
import { useHostedHarness } from "../support/mcp-hosted-harness.ts";
import { exchange } from "../support/raw-http.ts";

const harness = useHostedHarness();

describe("bar#HT-1 sizes", () => {
  const port = (): number => Number(new URL(harness().server.url).port);
  const head = (line: string, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, `Host: 127.0.0.1:${port()}`, ...headers, "", ""].join("\r\n");
  const form = "Content-Type: application/x-www-form-urlencoded";
  const json = "Content-Type: application/json";

  it.each([
    ["POST /token", form, 65_537],
    ["POST /revoke", form, 65_537],
    ["POST /register", json, 65_537],
    ["POST /mcp", json, 1024 * 1024 + 1],
  ])("%s, %s, of %i bytes is 413, by its length or by counting", async (line, type, length) => {
    const authorization = `Authorization: Bearer ${harness().tokens.accessToken}`;
    const declared = head(
      line,
      type,
      authorization,
      "Accept: application/json, text/event-stream",
      `Content-Length: ${length}`,
    );
    const byLength = await exchange({ port: port(), bytes: declared, untilAnswer: true });
    expect(byLength.status).toBe(413);
    const chunked = head(
      line,
      type,
      authorization,
      "Accept: application/json, text/event-stream",
      "Transfer-Encoding: chunked",
    );
    const endless = `4000\r\n${"a".repeat(0x4000)}\r\n`;
    const byCounting = await exchange({ port: port(), bytes: chunked, endless, timeoutMs: 20_000 });
    expect([413, 0]).toContain(byCounting.status);
    expect(byCounting.bytesSent).toBeLessThan(16 * 1024 * 1024);
  });

  it("a body to /mcp without a token is not read: 401, whatever its size", async () => {
    const bytes = head("POST /mcp", json, "Content-Length: 104857600");
    expect((await exchange({ port: port(), bytes, untilAnswer: true })).status).toBe(401);
  });

  it("headers beyond 16 kB are 431, and a token of 12 kB is just a wrong one", async () => {
    const long = head("POST /mcp", `Authorization: Bearer ${"a".repeat(20_000)}`, "Content-Length: 0");
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

  it.each([
    ["two tokens, comma-separated", (token: string) => `Bearer ${token}, Bearer ${token}`],
    ["two tokens, one after the other", (token: string) => `Bearer ${token} ${token}`],
    ["another scheme", (token: string) => `Token ${token}`],
    ["as Basic", (token: string) => `Basic ${Buffer.from(`platform:${token}`).toString("base64")}`],
    ["no scheme", (token: string) => token],
    ["a tab for the space", (token: string) => `Bearer\t${token}`],
    ["quotes", (token: string) => `Bearer "${token}"`],
  ])("bar#RS-2 the token as %s is 401", async (_, header) => {
    const { status } = await postWhoami(harness().server.mcp, undefined, {
      headers: { authorization: header(harness().tokens.accessToken) },
    });
    expect(status).toBe(401);
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
