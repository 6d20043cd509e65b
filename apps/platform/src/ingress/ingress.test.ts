import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { PLATFORM_TOKEN, sendRaw, startIngress, type TestIngress } from "../testing/test-ingress.ts";
import { DEFAULT_LIMITS, forward } from "./forward.ts";

let ingress: TestIngress;
afterEach(() => ingress.close());

const BEARER = { authorization: "Bearer some.token" };

/** Answers with the request it received, as JSON. */
function echo(seen: IncomingMessage[] = []) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    seen.push(request);
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { method, url, headers } = request;
      response.writeHead(200, { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] });
      response.end(JSON.stringify({ method, url, headers, body }));
    });
  };
}

describe("requests that may pass", () => {
  it.each(["/mcp", "/", "/healthz", "/tokens", "/token/"])(
    "rfc6750#2.1 without a bearer token %s is 401, and nothing reaches the server",
    async (path) => {
      const seen: IncomingMessage[] = [];
      ingress = await startIngress(echo(seen));
      for (const headers of [{}, { authorization: "Basic YTpi" }, { authorization: "Bearer " }]) {
        const { status, headers: answered } = await sendRaw(ingress.url, { path, headers });
        expect([status, answered["www-authenticate"]?.split(" ")[0]]).toEqual([401, "Bearer"]);
      }
      expect(seen).toEqual([]);
    },
  );

  it.each([
    "/.well-known/../mcp",
    "/.well-known/..%2fmcp",
    "/.well-known/%2e%2e/mcp",
    "/%74oken",
    "/%6dcp",
    "/token\\..\\mcp",
    "http://127.0.0.1/token",
  ])("bar#HT-7 a target that is not a plain path is 404, also with a token, unsent: %s", async (path) => {
    const seen: IncomingMessage[] = [];
    ingress = await startIngress(echo(seen));
    const { status } = await sendRaw(ingress.url, { path, headers: { authorization: "Bearer t" } });
    expect([status, seen]).toEqual([404, []]);
  });

  it.each(["GET", "HEAD", "DELETE", "PUT"])("bar#RS-1 %s without a token is answered as POST is", async (method) => {
    ingress = await startIngress(echo());
    const posted = await sendRaw(ingress.url, { path: "/mcp", method: "POST" });
    const { status, headers, body } = await sendRaw(ingress.url, { path: "/mcp", method });
    expect([status, headers["www-authenticate"]]).toEqual([401, posted.headers["www-authenticate"]]);
    expect(body).toBe(method === "HEAD" ? "" : posted.body);
  });

  it("the challenge names the resource's metadata where that is exposed", async () => {
    ingress = await startIngress(echo());
    const exposed = await sendRaw(ingress.url, { path: "/mcp", method: "POST" });
    const metadata = `${ingress.url}/.well-known/oauth-protected-resource/mcp`;
    expect(exposed.headers["www-authenticate"]).toBe(`Bearer resource_metadata="${metadata}"`);
    await ingress.close();
    ingress = await startIngress(echo(), { expose: [], mode: "pre-registered" });
    const closed = await sendRaw(ingress.url, { path: "/mcp", method: "POST" });
    expect(closed.headers["www-authenticate"]).toBe("Bearer");
  });

  it("exposed paths pass without one, and every path passes with one", async () => {
    ingress = await startIngress(echo());
    for (const [path, headers] of [
      ["/token?x=1", {}],
      ["/.well-known/oauth-authorization-server", {}],
      ["/mcp", BEARER],
      ["/anything", BEARER],
    ] as const) {
      const { status, body } = await sendRaw(ingress.url, { path, headers });
      expect([status, (JSON.parse(body) as { url: string }).url]).toEqual([200, path]);
    }
  });

  it("bar#RS-7 a foreign Host is 403, exposed path or not", async () => {
    ingress = await startIngress(echo());
    for (const host of ["evil.example", `localhost:${new URL(ingress.url).port}`, "127.0.0.1"]) {
      for (const path of ["/token", "/mcp"]) {
        expect((await sendRaw(ingress.url, { path, headers: { ...BEARER, host } })).status).toBe(403);
      }
    }
  });

  it("a foreign Host is in the log, beside the one that is expected", async () => {
    ingress = await startIngress(echo());
    await sendRaw(ingress.url, { path: "/mcp", headers: { ...BEARER, host: "internal-alb:8788" } });
    const [line] = ingress.log.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(line).toMatchObject({ status: 403, reason: "foreign_host" });
    expect(line?.["detail"]).toBe(
      `expected Host ${new URL(ingress.url).host}, got internal-alb:8788: a proxy in front has to keep the Host of the request`,
    );
  });

  it("for a server without OAuth the token is the platform's own, and the server does not see it", async () => {
    ingress = await startIngress(echo(), { mode: "none", expose: [] });
    const wrong = await sendRaw(ingress.url, { path: "/mcp", headers: BEARER });
    const challenge = expect.stringContaining('Bearer error="invalid_token"');
    expect([wrong.status, wrong.headers["www-authenticate"]]).toEqual([401, challenge]);
    const headers = { authorization: `Bearer ${PLATFORM_TOKEN}` };
    const { status, body } = await sendRaw(ingress.url, { path: "/mcp", headers });
    expect(status).toBe(200);
    expect(body).not.toContain(PLATFORM_TOKEN);
  });
});

describe("clients that are web pages", () => {
  const APP = "https://app.example";
  const asking = { "access-control-request-method": "POST" };
  const preflight = (origin = APP) => ({ path: "/mcp", method: "OPTIONS", headers: { origin, ...asking } });

  it("OPTIONS passes without a bearer token at /mcp of a server that checks tokens, only there", async () => {
    const seen: IncomingMessage[] = [];
    ingress = await startIngress(echo(seen));
    expect((await sendRaw(ingress.url, preflight())).status).toBe(200);
    expect(seen.map(({ method, headers }) => [method, headers.origin])).toEqual([["OPTIONS", APP]]);
    for (const path of ["/", "/mcp/", "/mcp/x", "/MCP", "/healthz"]) {
      expect([path, (await sendRaw(ingress.url, { ...preflight(), path })).status]).toEqual([path, 401]);
    }
    for (const method of ["POST", "GET"]) {
      expect((await sendRaw(ingress.url, { ...preflight(), method })).status).toBe(401);
    }
    await ingress.close();
    ingress = await startIngress(echo(seen), { mode: "none", expose: [] });
    expect((await sendRaw(ingress.url, preflight())).status).toBe(401);
  });

  it("bar#HT-8 lets pages that the server allows read the ingress's own answers, and no other", async () => {
    const limits = { ...DEFAULT_LIMITS, bodyBytes: 10 };
    ingress = await startIngress(echo(), { allowedOrigins: [APP], limits });
    const body = "x".repeat(11);
    const answers = async (origin: string) => [
      await sendRaw(ingress.url, { path: "/mcp", method: "POST", headers: { origin } }),
      await sendRaw(ingress.url, { path: "/token", method: "POST", headers: { origin }, body }),
      await sendRaw(ingress.url, { path: "/mcp", method: "POST", headers: { origin, host: "evil.example" } }),
    ];
    const read = await answers(APP);
    expect(read.map(({ status, headers }) => [status, headers["access-control-allow-origin"]])).toEqual([
      [401, APP],
      [413, APP],
      [403, APP],
    ]);
    expect(read[0]?.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
    for (const origin of ["https://evil.example", "null"]) {
      for (const { headers } of await answers(origin)) expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
    await ingress.stopServer();
    const down = await sendRaw(ingress.url, { path: "/mcp", headers: { ...BEARER, origin: APP } });
    expect([down.status, down.headers["access-control-allow-origin"]]).toEqual([503, APP]);
  });

  it("what the server answers keeps its own headers", async () => {
    ingress = await startIngress((_, response) => response.writeHead(401, { vary: "Accept" }).end(), {
      allowedOrigins: [APP],
    });
    const { headers } = await sendRaw(ingress.url, { path: "/mcp", headers: { ...BEARER, origin: APP } });
    expect([headers.vary, headers["access-control-allow-origin"]]).toEqual(["Accept", undefined]);
  });
});

describe("what passes", () => {
  it("rfc9110#7.6.1 headers between neighbours stay, proxies' are ignored, Host is the server's", async () => {
    ingress = await startIngress(echo());
    const { host } = new URL(ingress.url);
    const answer = await sendRaw(ingress.url, {
      path: "/mcp",
      method: "POST",
      body: "hello",
      headers: {
        ...BEARER,
        connection: "close, x-private",
        "x-private": "1",
        "proxy-authorization": "Basic x",
        "x-forwarded-host": "evil.example",
        "x-forwarded-for": "192.0.2.1",
        forwarded: "host=evil.example",
        "mcp-protocol-version": "2025-06-18",
        "content-length": "5",
      },
    });
    const { headers, body, method } = JSON.parse(answer.body) as Record<string, Record<string, string>>;
    expect([method, body]).toEqual(["POST", "hello"]);
    expect(headers).toMatchObject({ host, authorization: BEARER.authorization, "mcp-protocol-version": "2025-06-18" });
    // The address that is connected to the ingress, not the one the caller claims: servers count
    // their limits by it.
    expect(headers).toMatchObject({ "x-forwarded-for": "127.0.0.1" });
    for (const name of ["x-private", "proxy-authorization", "x-forwarded-host", "forwarded"]) {
      expect(headers).not.toHaveProperty(name);
    }
    expect(answer.headers["set-cookie"]).toEqual(["notes.a=1", "notes.b=2"]);
  });

  it("redirects and other statuses come back as they are", async () => {
    const location = "https://vendor.example/x";
    ingress = await startIngress((_, response) => response.writeHead(303, { location }).end());
    const { status, headers } = await sendRaw(ingress.url, { path: "/token" });
    expect([status, headers.location]).toEqual([303, location]);
  });

  it("an event stream passes event by event, and ends when the caller disconnects", async () => {
    const left = Promise.withResolvers<void>();
    let next = (): void => undefined;
    ingress = await startIngress((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      next = () => void response.write("data: 2\n\n");
      response.on("close", () => left.resolve());
    });
    const leave = new AbortController();
    const answer = await fetch(`${ingress.url}/mcp`, { headers: BEARER, signal: leave.signal });
    const reader = answer.body!.getReader();
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString("utf8");
    expect(await read()).toBe("data: 1\n\n");
    next();
    expect(await read()).toBe("data: 2\n\n");
    leave.abort();
    await left.promise;
  });
});

describe("limits and faults", () => {
  const limits = { ...DEFAULT_LIMITS, bodyBytes: 1000 };

  it("a body that is too large is 413, declared or not", async () => {
    const seen: IncomingMessage[] = [];
    ingress = await startIngress(echo(seen), { limits });
    const body = "x".repeat(1001);
    const statusOf = async (more: Record<string, string>, sent = body) =>
      (await sendRaw(ingress.url, { path: "/mcp", method: "POST", headers: { ...BEARER, ...more }, body: sent }))
        .status;
    expect([await statusOf({ "content-length": "1001" }), seen]).toEqual([413, []]);
    expect(await statusOf({ "transfer-encoding": "chunked" })).toBe(413);
    expect(await statusOf({ "transfer-encoding": "chunked" }, body.slice(1))).toBe(200);
  });

  it("a server that does not run is 503 with Retry-After", async () => {
    ingress = await startIngress(echo());
    await ingress.stopServer();
    const { status, headers, body } = await sendRaw(ingress.url, { path: "/mcp", headers: BEARER });
    expect([status, headers["retry-after"]]).toEqual([503, "5"]);
    expect(JSON.parse(body)).toEqual({
      error: "temporarily_unavailable",
      error_description: "The server is not running. Try again later",
      reason: "server_down",
    });
  });

  const odd = (status: number) => `HTTP/1.1 ${status} Odd\r\nContent-Length: 0\r\n\r\n`;
  it.each<[string, number, (request: IncomingMessage) => unknown]>([
    ["that breaks off", 502, ({ socket }) => socket.destroy()],
    ["that is silent", 504, () => undefined],
    ["with the status 600", 502, ({ socket }) => socket.end(odd(600))],
    ["with the status 999", 502, ({ socket }) => socket.end(odd(999))],
  ])("a server %s is %i", async (_, status, handle) => {
    ingress = await startIngress(handle, { limits: { ...limits, answerMs: 50 } });
    expect((await sendRaw(ingress.url, { path: "/mcp", headers: BEARER })).status).toBe(status);
  });

  it("a server that closes before it has the whole body: its answer is read", async () => {
    const { promise: sending, resolve: start } = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
    const sendMore = () => void sending.then((body) => body.enqueue(new Uint8Array(9)));
    ingress = await startIngress(({ socket }) => {
      socket.write("HTTP/1.1 413 Odd\r\nContent-Length: 5\r\n\r\nearly");
      socket.resetAndDestroy();
      sendMore();
    });
    const init = { method: "POST", body: new ReadableStream({ start }), duplex: "half" } as const;
    sendMore();
    const { target } = ingress;
    const rules = { host: "notes", connectorId: "notes", keepsAuthorization: false, callerAddress: "127.0.0.1" };
    const to = { ...rules, target, breakOff: () => {} };
    const answer = (await forward(new Request(ingress.url, init), to, limits)) as Response;
    expect([answer.status, await answer.text()]).toEqual([413, "early"]);
  });

  it.each([{ "content-length": "10" }, {}])("an answer that breaks off breaks off here: %j", async (headers) => {
    const printed: unknown[] = [];
    const spies = (["error", "info"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...all) => void printed.push(all)),
    );
    ingress = await startIngress((_, response) => {
      response.writeHead(200, headers);
      response.write("half");
      setTimeout(() => response.destroy(), 20);
    });
    await expect(sendRaw(ingress.url, { path: "/mcp", headers: BEARER })).rejects.toThrow(/aborted/);
    for (const spy of spies) spy.mockRestore();
    expect(printed).toEqual([]);
  });

  it("logs neither paths nor tokens", async () => {
    ingress = await startIngress(echo());
    await sendRaw(ingress.url, { path: "/mcp/canary?canary", headers: { authorization: "Bearer canary" } });
    expect(ingress.log.join("")).toContain('"route":"ingress"');
    expect(ingress.log.join("")).not.toContain("canary");
  });
});
