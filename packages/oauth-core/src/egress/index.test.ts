import { inspect } from "node:util";
import { createRemoteJWKSet, customFetch, exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { afterEach, describe, expect, it, vi } from "vitest";
import { httpAnswer } from "../testing/network/loopback-server.ts";
import { recordingNetwork } from "../testing/network/recording-network.ts";
import { closeAfterEach, open, start } from "../testing/network/test-egress.ts";
import { isEgressError, REAL_NETWORK } from "./index.ts";

closeAfterEach();

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("an answer", () => {
  const answer = async (head: Record<string, string> = {}): Promise<Response> => {
    const server = await start((socket) => socket.write(httpAnswer('\ufeff{"ok":true}', head)));
    return open().fetch(`${server.origin}/token`);
  };
  const WAYS: Record<string, (response: Response) => Promise<unknown>> = {
    text: (response) => response.text(),
    json: (response) => response.json(),
    arrayBuffer: (response) => response.arrayBuffer(),
    blob: (response) => response.blob(),
    bytes: (response) => response.bytes(),
    body: async (response) => new Response(response.body).text(),
    clone: (response) => response.clone().text(),
    textStream: async (response) => {
      let text = "";
      for await (const part of response.textStream()) text += part;
      return text;
    },
  };

  it.each(Object.keys(WAYS))("is read by %s as the web reads it", async (way) => {
    const head = { "content-type": "application/json" };
    const web = new Response('\ufeff{"ok":true}', { headers: head });
    const ours = await answer(head);
    expect([ours.bodyUsed, ours.ok, ours.type, ours.statusText]).toEqual([web.bodyUsed, web.ok, web.type, ""]);
    expect(await WAYS[way]?.(ours)).toEqual(await WAYS[way]?.(web));
    expect(ours.bodyUsed).toBe(web.bodyUsed);
  });

  it.each(["text", "json", "arrayBuffer", "clone"])("is read by %s once only", async (way) => {
    for (const first of ["text", "bytes"]) {
      const response = await answer();
      await WAYS[first]?.(response);
      await expect((async () => WAYS[way]?.(response))()).rejects.toThrow(TypeError);
    }
  });
});

describe("a request", () => {
  it("posts a form and answers a Response with the whole body", async () => {
    const server = await start((socket) =>
      socket.write(httpAnswer('{"ok":true}', { "content-type": "application/json", "x-a": "1" }, 201)),
    );
    const response = await open().fetch(`${server.origin}/token?x=y`, {
      method: "POST",
      headers: new Headers({ Accept: "application/json", Authorization: "Basic eDp5" }),
      body: new URLSearchParams({ code: "a b" }),
      redirect: "manual",
    });
    // By its tag: a web framework in the same process may have replaced the global class.
    expect(Object.prototype.toString.call(response)).toBe("[object Response]");
    expect([response.status, response.headers.get("content-type"), response.headers.get("x-a")]).toEqual([
      201,
      "application/json",
      "1",
    ]);
    expect(await response.json()).toEqual({ ok: true });
    const [head = "", body] = (server.received[0] ?? "").split("\r\n\r\n");
    expect(head.split("\r\n").sort()).toEqual(
      [
        "POST /token?x=y HTTP/1.1",
        `host: 127.0.0.1:${server.port}`,
        "connection: keep-alive",
        "accept: application/json",
        "authorization: Basic eDp5",
        "accept-encoding: identity",
        "user-agent: oauth-broker",
        "content-type: application/x-www-form-urlencoded",
        "content-length: 8",
      ].sort(),
    );
    expect(body).toBe("code=a+b");
  });

  it.each([
    ["entries", [["X-A", "1"]] as [string, string][]],
    ["an object", { "X-A": "1" }],
    ["Headers", new Headers({ "X-A": "1" })],
  ])("takes headers as %s", async (_kind, headers) => {
    const server = await start((socket) => socket.write(httpAnswer("")));
    await open().fetch(server.origin, { headers });
    expect(server.received[0]).toMatch(/^GET \/ HTTP\/1\.1\r\n[^]*x-a: 1\r\n/);
  });

  it.each([
    ["a string", "é", "é"],
    ["bytes", new Uint8Array([0xc3, 0xa9]), "é"],
  ])("sends %s", async (_kind, body, expected) => {
    const server = await start((socket) => socket.write(httpAnswer("")));
    await open().fetch(server.origin, { method: "post", body, headers: { "content-type": "text/x" } });
    expect(Buffer.from((server.received[0] ?? "").split("\r\n\r\n")[1] ?? "", "latin1").toString()).toBe(expected);
    expect(server.received[0]).toMatch(/^POST /);
    expect(server.received[0]).toContain("content-type: text/x\r\n");
  });

  it.each([
    ["another Host", { headers: { Host: "other.example" } }],
    ["a cookie", { headers: { Cookie: "a=b" } }],
    ["a line break in a header", { headers: { "x-a": "1\r\nx-b: 2" } }],
    ["an unknown method token", { method: "GET /x" }],
    ["a stream", { method: "POST", body: new ReadableStream() }],
    ["followed redirects", { redirect: "follow" }],
  ] as [string, RequestInit][])("refuses %s, unsent", async (_what, init) => {
    const server = await start((socket) => socket.write(httpAnswer("")));
    await expect(open().fetch(server.origin, init)).rejects.toMatchObject({
      name: "EgressError",
      kind: "refused",
      sent: false,
    });
    expect(server.received).toEqual([]);
  });

  it("uses one connection again for the same origin, and shares none with another", async () => {
    const a = await start((socket) => socket.write(httpAnswer("a")));
    const b = await start((socket) => socket.write(httpAnswer("b")));
    const egress = open();
    for (const server of [a, b, a]) {
      await egress.fetch(server.origin, { headers: { authorization: `Bearer for-${server.port}` } });
    }
    await egress.fetchUntrusted(a.origin);
    expect(a.received.map((text) => text.split("GET /").length - 1)).toEqual([2, 1]);
    expect(b.received.join("")).not.toContain(`for-${a.port}`);
  });
});

describe("libraries that take a fetch", () => {
  it("oauth4webapi redeems a code through it", async () => {
    const tokens = { access_token: "at", token_type: "bearer", expires_in: 60 };
    const server = await start((socket) =>
      socket.write(httpAnswer(JSON.stringify(tokens), { "content-type": "application/json" })),
    );
    const as = { issuer: server.origin, token_endpoint: `${server.origin}/token` };
    const client = { client_id: "c" };
    const parameters = oauth.validateAuthResponse(as, client, new URLSearchParams({ code: "x" }), oauth.expectNoState);
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.ClientSecretBasic("s"),
      parameters,
      "https://broker.example/v1/callback",
      "v".repeat(43),
      { [oauth.customFetch]: open().fetch, [oauth.allowInsecureRequests]: true },
    );
    expect(await oauth.processAuthorizationCodeResponse(as, client, response)).toMatchObject(tokens);
    expect(server.received[0]).toContain("code=x");
  });

  it("jose fetches keys through it, and refuses a redirect", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "1" }] });
    const answers = [httpAnswer("", { location: "/elsewhere" }, 302), httpAnswer(jwks)];
    const server = await start((socket) => socket.write(answers.shift() ?? ""));
    const keys = createRemoteJWKSet(new URL(`${server.origin}/jwks`), { [customFetch]: open().fetch });
    const jwt = await new SignJWT({ sub: "u" }).setProtectedHeader({ alg: "ES256", kid: "1" }).sign(privateKey);
    await expect(jwtVerify(jwt, keys)).rejects.toThrow("Expected 200 OK");
    expect((await jwtVerify(jwt, keys)).payload.sub).toBe("u");
  });
});

describe("redirects, cookies, proxies", () => {
  it.each([301, 302, 303, 307, 308])("bar#EG-6 hands back %i and goes nowhere", async (status) => {
    const elsewhere = await start((socket) => socket.write(httpAnswer("")));
    const server = await start((socket) =>
      socket.write(httpAnswer("", { location: `${elsewhere.origin}/stolen` }, status)),
    );
    const response = await open().fetch(server.origin, {
      method: "POST",
      body: "code=x",
      headers: { authorization: "Basic eDp5" },
    });
    expect([response.status, response.redirected]).toEqual([status, false]);
    expect([server.received.length, elsewhere.received.length]).toEqual([1, 0]);
  });

  it("bar#EG-12 does not carry a POST and its Authorization over a 307", async () => {
    const thief = await start((socket) => socket.write(httpAnswer("{}")));
    const server = await start((socket) => socket.write(httpAnswer("", { location: thief.origin }, 307)));
    await open().fetchUntrusted(server.origin, {
      method: "POST",
      body: "code=x",
      headers: { authorization: "Basic eDp5" },
    });
    expect(thief.received).toEqual([]);
  });

  it("bar#EG-11 keeps no cookies", async () => {
    const server = await start((socket) => socket.write(httpAnswer("", { "set-cookie": "session=1; Path=/" })));
    const egress = open();
    const first = await egress.fetch(server.origin);
    await egress.fetch(server.origin);
    expect(first.headers.get("set-cookie")).toBeNull();
    expect(server.received.join("").toLowerCase()).not.toContain("cookie");
  });

  it("bar#EG-11 ignores proxies of the environment", async () => {
    const proxy = await start((socket) => socket.write(httpAnswer("from the proxy")));
    for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
      vi.stubEnv(name, proxy.origin);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    vi.stubEnv("NO_PROXY", "");
    const server = await start((socket) => socket.write(httpAnswer("direct")));
    expect(await (await open().fetch(server.origin)).text()).toBe("direct");
    expect(proxy.received).toEqual([]);
  });
});

describe("errors", () => {
  it("bar#EG-9 have one message for refused, closed, timed out and broken, without URL and body", async () => {
    const silent = await start(() => undefined);
    const closing = await start((socket) => socket.destroy());
    const garbage = await start((socket) => socket.end("canary-answer\r\n\r\n"));
    const egress = open({ timeoutMs: 200 });
    const urls = [
      silent.origin,
      closing.origin,
      garbage.origin,
      "http://127.0.0.1:1",
      "https://10.0.0.1",
      silent.origin.replace("http", "https"),
    ];
    const errors: unknown[] = [];
    for (const url of urls) {
      const call = egress.fetchUntrusted(`${url}/canary-path?q=canary-query`, {
        method: "POST",
        body: "canary-body",
        headers: { authorization: "canary-header" },
      });
      errors.push(await call.catch((error: unknown) => error));
    }
    expect(errors.every(isEgressError)).toBe(true);
    expect(new Set(errors.map((error) => (error as Error).message)).size).toBe(1);
    expect(errors.map((error) => inspect(error, { depth: 9, showHidden: true })).join()).not.toContain("canary");
  });

  it("bar#EG-9 of untrusted calls are delayed by a random time", async () => {
    const { deps } = recordingNetwork();
    const jitterMs = vi.fn<() => number>(() => 0);
    const egress = open({}, { ...deps, jitterMs });
    await egress.fetchUntrusted("https://10.0.0.1/").catch(() => undefined);
    await egress.fetchUntrusted("https://vendor.example/").catch(() => undefined);
    await egress.fetch("https://vendor.example/").catch(() => undefined);
    expect(jitterMs).toHaveBeenCalledTimes(2);
    const waits = Array.from({ length: 50 }, REAL_NETWORK.jitterMs);
    expect(Math.max(...waits)).toBeLessThan(200);
    expect(new Set(waits).size).toBeGreaterThan(5);
  });
});
