/**
 * A vendor whose API gives undocumented answers to the template's own tools: the user's token stays
 * with the vendor, the model gets an explanation in one sentence, the vendor's fault does not look
 * like a bug of the server, and the next call works.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
import { afterAll, describe, expect, it } from "vitest";
import { callTool, connectClient, postWhoami, type ToolAnswer } from "../../support/mcp/client.ts";
import { sharedHostedServer } from "../../support/mcp/hosted-harness.ts";
import { exchange } from "../../support/raw-http.ts";
import { shared } from "../../support/shared.ts";

const harness = sharedHostedServer();
/** A server that must never receive a request. */
const trap = shared(() => startScriptedVendor({ "*": { body: [] } }));
afterAll(() => {
  expect(trap.received).toEqual([]);
  expect(harness.server.stdout()).not.toContain('"level":"error"');
});

interface Faulty {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The tool's answer when the vendor's next one is this. */
async function during(
  path: "/user" | "/user/repos",
  { status = 200, headers = {}, body = "[]" }: Faulty,
): Promise<ToolAnswer> {
  const { server, vendor, tokens } = harness;
  vendor.github.faultNext(path, {
    kind: "answer",
    status,
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  const client = await connectClient(server.mcp, tokens.accessToken);
  const input = path === "/user" ? {} : { url: `${vendor.github.url}/user/repos` };
  const answer = await callTool(client, path === "/user" ? "whoami" : "list_pages", input);
  await client.close();
  expect(answer.text).not.toContain("The tool failed");
  return answer;
}

describe("a list whose next page", () => {
  it.each<[string, () => string]>([
    ["is elsewhere", () => `<${trap.url}/next>; rel="next"`],
    ["is elsewhere, without a scheme", () => `<//${new URL(trap.url).host}/next>; rel="next"`],
    ["is at a stranger's", () => "<https://evil.example/>; rel=next"],
    ["is a script", () => '<javascript:alert(1)>; rel="next"'],
    ["is a file", () => '<file:///etc/passwd>; rel="next"'],
    [
      "is at the vendor's host with user information",
      () => `<http://user:pass@${new URL(trap.url).host}/>; rel="next"`,
    ],
  ])("%s is not read, and gets no token", async (_, link) => {
    const answer = await during("/user/repos", { headers: { link: link() }, body: "[1]" });
    expect([answer.isError, answer.text.includes("is not a host of GitHub")]).toEqual([true, true]);
  });

  it.each(['<http://[>; rel="next"', "<>", "next", `${"<".repeat(8_000)}; rel="next"`, '<a>; rel="prev next-but-one"'])(
    "is no address (%s) is the last",
    async (link) => {
      const { isError, value } = await during("/user/repos", { headers: { link }, body: "[1]" });
      expect([isError, value]).toEqual([false, { items: [1], hasMore: false }]);
    },
  );

  it("is itself ends with the pages that were asked for", async () => {
    const link = `<${harness.vendor.github.url}/user/repos>; rel="next"`;
    const { value } = await during("/user/repos", { headers: { link }, body: "[1]" });
    expect(value).toMatchObject({ hasMore: false, items: expect.arrayContaining([1]) });
  });
});

it.each(["{}", "[", "", "null", "[".repeat(100_000), "<html>"])("an invalid list (%#) is reported", async (body) => {
  const answer = await during("/user/repos", { body });
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("did not answer with a JSON list")]);
});

it("a list of 100,000 on one page is read", async () => {
  const { value } = await during("/user/repos", { body: `[${"1,".repeat(99_999)}1]` });
  expect((value["items"] as unknown[]).length).toBe(100_000);
});

it.each([301, 302, 303, 307, 308])("a %i is not followed: what is there gets no token", async (status) => {
  const headers = { location: `${trap.url}/moved` };
  expect((await during("/user/repos", { status, headers })).isError).toBe(true);
  expect((await during("/user", { status, headers, body: "{}" })).isError).toBe(true);
});

it.each<[Faulty, string]>([
  [{ status: 500 }, "cannot be reached now"],
  [{ status: 429, headers: { "retry-after": "60" } }, "cannot be reached now"],
  [{ status: 403, body: '{"message":"Resource not accessible"}' }, "does not understand"],
  [{ status: 404 }, "does not understand"],
  [{ body: "[]" }, "does not understand"],
  [{ body: '{"id":1,"id":2}' }, "does not understand"],
  [{ headers: { "content-type": "text/html" }, body: "<h1>Sign in</h1>" }, "does not understand"],
])("an account that is %j is said in a sentence", async (faulty, sentence) => {
  const answer = await during("/user", faulty);
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining(sentence)]);
  expect(answer.text).not.toMatch(/Sign in|Resource not/);
});

it("a client that disconnects while the vendor is silent affects no other client", async () => {
  const { server, vendor, tokens } = harness;
  vendor.github.faultNext("/user", { kind: "hang" });
  const client = new AbortController();
  const { signal } = client;
  const call = postWhoami(server.mcp, tokens.accessToken, { signal }).catch((error: unknown) => error);
  await expect.poll(() => vendor.github.requests().at(-1)).toMatchObject({ path: "/user", status: 0 });
  client.abort();
  expect(await call).toMatchObject({ name: "AbortError" });
  expect((await postWhoami(server.mcp, tokens.accessToken)).status).toBe(200);
});

it("bar#RS-8 calls of two users in one packet, on one connection, are answered each for itself", async () => {
  const { server, tokens, platform } = harness;
  const other = await platform.connect("operator");
  const { host, port } = new URL(server.url);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "whoami", arguments: {} },
  });
  const request = ({ accessToken }: typeof tokens, connection: string): string =>
    [
      "POST /mcp HTTP/1.1",
      `Host: ${host}`,
      `Authorization: Bearer ${accessToken}`,
      `Connection: ${connection}`,
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      "MCP-Protocol-Version: 2025-11-25",
      `Content-Length: ${body.length}`,
      "",
      body,
    ].join("\r\n");
  const bytes = [tokens, other, tokens].map((one) => request(one, "keep-alive")).join("") + request(other, "close");
  const { text } = await exchange({ port: Number(port), bytes });
  expect(text.match(/sample-\w+/g)).toEqual(["sample-user", "sample-operator", "sample-user", "sample-operator"]);
});
