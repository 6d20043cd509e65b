import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { httpAnswer, type LoopbackServer, startLoopbackServer } from "../testing/loopback-server.ts";
import { recordingNetwork } from "../testing/recording-network.ts";
import { createEgress, type Egress, type EgressDeps, type EgressOptions, isEgressError, REAL_NETWORK } from "./egress.ts";

const OPTIONS: EgressOptions = { allowLoopback: true, allowCidrs: [], timeoutMs: 5_000 };
const running: (Egress | LoopbackServer)[] = [];
const track = <T extends Egress | LoopbackServer>(one: T): T => (running.push(one), one);
const start = async (...args: Parameters<typeof startLoopbackServer>): Promise<LoopbackServer> => track(await startLoopbackServer(...args));
const open = (options: Partial<EgressOptions> = {}, deps: Partial<EgressDeps> = {}): Egress =>
  track(createEgress({ ...OPTIONS, ...options }, { ...REAL_NETWORK, jitterMs: () => 0, ...deps }));

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const one of running.splice(0)) await one.close();
});

describe("a request", () => {
  it("posts a form and answers a Response with the whole body", async () => {
    const server = await start((socket) => socket.write(httpAnswer('{"ok":true}', { "content-type": "application/json", "x-a": "1" }, 201)));
    const response = await open().fetch(`${server.origin}/token?x=y`, {
      method: "POST",
      headers: new Headers({ Accept: "application/json", Authorization: "Basic eDp5" }),
      body: new URLSearchParams({ code: "a b" }),
      redirect: "manual",
    });
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.headers.get("content-type"), response.headers.get("x-a")]).toEqual([201, "application/json", "1"]);
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
        "content-type: application/x-www-form-urlencoded;charset=UTF-8",
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
    await expect(open().fetch(server.origin, init)).rejects.toMatchObject({ name: "EgressError", kind: "refused", sent: false });
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

describe("redirects, cookies, proxies", () => {
  it.each([301, 302, 303, 307, 308])("bar#EG-6 hands back %i and goes nowhere", async (status) => {
    const elsewhere = await start((socket) => socket.write(httpAnswer("")));
    const server = await start((socket) => socket.write(httpAnswer("", { location: `${elsewhere.origin}/stolen` }, status)));
    const response = await open().fetch(server.origin, { method: "POST", body: "code=x", headers: { authorization: "Basic eDp5" } });
    expect([response.status, response.redirected]).toEqual([status, false]);
    expect([server.received.length, elsewhere.received.length]).toEqual([1, 0]);
  });

  it("bar#EG-12 does not carry a POST and its Authorization over a 307", async () => {
    const thief = await start((socket) => socket.write(httpAnswer("{}")));
    const server = await start((socket) => socket.write(httpAnswer("", { location: thief.origin }, 307)));
    await open().fetchUntrusted(server.origin, { method: "POST", body: "code=x", headers: { authorization: "Basic eDp5" } });
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

  it("bar#EG-11 knows no proxy of the environment", async () => {
    const proxy = await start((socket) => socket.write(httpAnswer("from the proxy")));
    for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"]) vi.stubEnv(name, proxy.origin);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    vi.stubEnv("NO_PROXY", "");
    const server = await start((socket) => socket.write(httpAnswer("direct")));
    expect(await (await open().fetch(server.origin)).text()).toBe("direct");
    expect(proxy.received).toEqual([]);
  });
});

describe("errors", () => {
  it("bar#EG-9 say the same for refused, closed, timed out and broken, and keep URL and body to themselves", async () => {
    const silent = await start(() => undefined);
    const closing = await start((socket) => socket.destroy());
    const garbage = await start((socket) => socket.end("canary-answer\r\n\r\n"));
    const egress = open({ timeoutMs: 200 });
    const urls = [silent.origin, closing.origin, garbage.origin, "http://127.0.0.1:1", "https://10.0.0.1", silent.origin.replace("http", "https")];
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

  it("bar#EG-9 of untrusted calls are held back for an unforeseeable moment", async () => {
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

describe("pools", () => {
  it("are 256 at most: the one not used for longest is closed", async () => {
    const { deps } = recordingNetwork();
    const made: unknown[] = [];
    const egress = open({}, { ...deps, buildConnector: (options) => (made.push(options), deps.buildConnector(options)) });
    const call = (index: number): Promise<unknown> => egress.fetch(`https://v${index}.vendor.example/`).catch(() => undefined);
    for (let index = 0; index < 256; index += 1) await call(index);
    await call(0);
    expect(made.length).toBe(256);
    await call(256);
    await call(0);
    expect(made.length).toBe(257);
    await call(1);
    expect(made.length).toBe(258);
  });

  it("have at most 50 connections and 1000 calls per origin; more fail at once, unsent", async () => {
    let now = 0;
    let most = 0;
    const server = await start((socket) => {
      most = Math.max(most, (now += 1));
      socket.on("close", () => (now -= 1));
    });
    const egress = open({ timeoutMs: 300 });
    const calls = Array.from({ length: 1_001 }, () => egress.fetch(server.origin).catch((error: unknown) => error));
    expect(await calls.at(-1)).toMatchObject({ kind: "connect", sent: false });
    const errors = await Promise.all(calls);
    expect(errors.slice(0, 1_000).every((error) => isEgressError(error) && error.kind === "timeout")).toBe(true);
    expect(errors.filter((error) => isEgressError(error) && !error.sent).length).toBeGreaterThan(0);
    expect(most).toBe(50);
  });

  it("finish what is under way when closed, and take nothing new", async () => {
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      void start((socket) => {
        answer = () => void socket.write(httpAnswer("last"));
        resolve();
      }).then((server) => (origin(server.origin), undefined));
    });
    let origin: (value: string) => void = () => undefined;
    const at = new Promise<string>((resolve) => (origin = resolve));
    const egress = open();
    const call = egress.fetch(await at);
    await asked;
    const closed = egress.close();
    answer();
    expect(await (await call).text()).toBe("last");
    await closed;
    await expect(egress.fetch(await at)).rejects.toMatchObject({ kind: "connect", sent: false });
    await egress.close();
  });
});
