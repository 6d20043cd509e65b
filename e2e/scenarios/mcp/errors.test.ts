/**
 * A hosted server, and what no well-behaved client sends it: body sizes and calls of /mcp. No call is
 * a server error, and none bypasses the token check. Each way in which a request can be wrong is in
 * the tests beside the endpoint's code.
 */
import { afterEach, describe, expect, it } from "vitest";
import { postWhoami } from "../../support/mcp/client.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { createMcpPlatform } from "../../support/mcp/platform.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { plantAll, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { shared } from "@oauth-broker/oauth-core/testing";
import { exchange } from "../../support/raw-http.ts";

const harness = shared(async () => {
  const vendor = await startGitHubVendor();
  const server = await serveTemplate({ ...(await hostedEnvironment()), ...vendor.env });
  const platform = await createMcpPlatform(server.url);
  const close = async (): Promise<void> => {
    plantAll("live vendor token", vendor.github.liveTokens());
    await server.stop();
    await vendor.close();
  };
  return { vendor, server, platform, tokens: await platform.connect(), close };
});
afterEach(async () => {
  expect((await postWhoami(harness.server.mcp, harness.tokens.accessToken)).status).toBe(200);
});

const form = "Content-Type: application/x-www-form-urlencoded";
const json = "Content-Type: application/json";
const port = (): number => Number(new URL(harness.server.url).port);
const head = (line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, `Host: 127.0.0.1:${port()}`, ...headers, "", ""].join("\r\n");

describe("bar#HT-1 sizes", () => {
  const ofUser = (line: string, type: string, ...length: string[]): string => {
    const authorization = `Authorization: Bearer ${harness.tokens.accessToken}`;
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

  it("a call of just under 1 MB is served, and a token of 12 kB is just a wrong one", async () => {
    expect((await postWhoami(harness.server.mcp, "a".repeat(12_000))).status).toBe(401);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/list",
      params: { _meta: { pad: "a".repeat(1_000_000) } },
    });
    expect((await postWhoami(harness.server.mcp, harness.tokens.accessToken, { body })).status).toBe(200);
  });
});

describe("POST /mcp with a good token", () => {
  const call = (body: string, headers: Readonly<Record<string, string>> = {}) =>
    postWhoami(harness.server.mcp, harness.tokens.accessToken, { body, headers });

  it.each([
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

  it("two Authorization headers are one wrong one, in either order", async () => {
    const tokens = ["unknown-token", harness.tokens.accessToken];
    for (const order of [tokens, tokens.toReversed()]) {
      const both = order.map((token) => `Authorization: Bearer ${token}`);
      const bytes = `${head("POST /mcp", json, ...both, "Content-Length: 2", "Connection: close")}{}`;
      expect((await exchange({ port: port(), bytes })).status).toBe(401);
    }
  });

  it("bar#RS-8 calls of two users in one packet, on one connection, are answered each for itself", async () => {
    const other = await harness.platform.connect("operator");
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "whoami", arguments: {} },
    });
    const request = ({ accessToken }: typeof other, connection: string): string =>
      head(
        "POST /mcp",
        json,
        `Authorization: Bearer ${accessToken}`,
        `Connection: ${connection}`,
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2025-11-25",
        `Content-Length: ${body.length}`,
      ) + body;
    const own = harness.tokens;
    const bytes = [own, other, own].map((one) => request(one, "keep-alive")).join("") + request(other, "close");
    const { text } = await exchange({ port: port(), bytes });
    expect(text.match(/sample-\w+/g)).toEqual(["sample-user", "sample-operator", "sample-user", "sample-operator"]);
  });

  it("the progress a client asks for, by a token of any shape, breaks nothing", async () => {
    const shapes = ['"a"', "0", "-1", '"__proto__"', "1e300", '"\\u0000"'];
    for (const progressToken of shapes) {
      const url = `${harness.vendor.github.url}/user/repos?per_page=1`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_pages","arguments":{"url":"${url}"},"_meta":{"progressToken":${progressToken}}}}`;
      expect((await call(body)).status).toBeLessThan(500);
    }
  });
});
