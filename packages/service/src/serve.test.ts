import { soonerThan } from "@oauth-broker/oauth-core/testing";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { beforeEach, expect, it } from "vitest";
import type { Route } from "./http/http-layer.ts";
import { type Listening, listen } from "./serve.ts";
import { mounted } from "./testing/mounted.ts";
import { listenForTest, openRaw } from "./testing/raw-connection.ts";

let server: Listening;
/** A request that waits for us. */
let slow: { readonly entered: PromiseWithResolvers<void>; readonly release: PromiseWithResolvers<void> };
beforeEach(async () => {
  slow = { entered: Promise.withResolvers(), release: Promise.withResolvers() };
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache", connection: "keep-alive" };
  const stream = { method: "GET", path: "/stream", surface: "api", quiet: true } as const;
  const routes: readonly Route[] = [
    { ...stream, handle: () => new Response("data: 1\n\n", { headers }) },
    { ...stream, path: "/json", handle: () => Response.json({ account: "u1" }) },
  ];
  const { app } = mounted(routes);
  app.get("/", (c) => c.text("ok"));
  app.get("/slow", async (c) => {
    slow.entered.resolve();
    await slow.release.promise;
    return c.text("done");
  });
  server = await listenForTest(app);
});

const url = (path: string): string => `http://127.0.0.1:${server.port}${path}`;

/** Sends bytes and waits for the other side to end the connection. */
const raw = async (bytes: string, port = server.port): Promise<string> => openRaw(port, bytes).whole;

it("bar#HT-5 refuses headers beyond 32 KiB and ambiguous requests", async () => {
  const large = (bytes: number): string => `GET / HTTP/1.1\r\nhost: x\r\nx-large: ${"a".repeat(bytes)}\r\n`;
  expect(await raw(`${large(31_000)}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await raw(`${large(33_000)}\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  expect(
    await raw("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\nabc"),
  ).toContain("400");
});

it("shows a browser with too many cookies what it can do, also while it still sends them", async () => {
  const { socket, whole } = openRaw(server.port, `GET / HTTP/1.1\r\nhost: x\r\ncookie: ${"a=b; ".repeat(7_000)}`);
  // It reads when it has sent all: a connection that was reset in the meantime has lost the response.
  socket.pause();
  // Half of the time that it may linger.
  for (const half = AbortSignal.timeout(500); !half.aborted; await sleep(5)) socket.write("c=d; ".repeat(50));
  expect(socket.errored).toBeNull();
  socket.resume();
  const [head = "", body = ""] = (await whole).split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
  expect(head).toMatch(/^content-type: text\/html; charset=utf-8\r$/m);
  expect(head).toMatch(/^cache-control: no-store\r$/m);
  expect(head).toContain(`content-length: ${Buffer.byteLength(body)}\r\n`);
  expect(body).toContain("Delete the cookies of this site");
});

it("bar#HT-7 serves nothing at a target that is no plain path, in the form the caller reads", async () => {
  for (const target of ["/a/../", "/a/%2e%2E/", "/a\\..\\", "/..%2f", `http://127.0.0.1:${server.port}/`]) {
    expect(await raw(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 404 [^]*cache-control: no-store[^]*\{"error":"not_found"/,
    );
  }
  expect(await raw("GET /a/../ HTTP/1.1\r\nhost: x\r\naccept: text/html\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 404 [^]*<h1>There is no such page<\/h1>/,
  );
});

it("rfc9110#10.1.1 refuses an expectation that it does not know, and no cache keeps that", async () => {
  const request = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 3\r\n\r\nabc";
  expect(await raw(request)).toMatch(/^HTTP\/1\.1 417 [^]*cache-control: no-store[^]*"invalid_request"/);
});

it.each([
  ["no Host", "GET / HTTP/1.1\r\n\r\n"],
  ["two", "GET / HTTP/1.1\r\nHost: x\r\nhost: internal.example\r\n\r\n"],
])("rfc9112#3.2 refuses a request with %s, and no cache keeps that", async (_, bytes) => {
  expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 400 [^]*cache-control: no-store[^]*"invalid_request"/);
});

it("answers a health check over HTTP/1.0, which names no Host", async () => {
  expect(await raw("GET / HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
  expect(await raw("GET / HTTP/1.1\r\n\r\n")).toContain("400");
});

it("bar#HT-1 ends a GET that carries a body at once, endless ones included", async () => {
  expect(await raw("GET / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n")).toContain("400");
  expect(await raw("GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc")).toContain("400");
});

it("rfc9110#7.6.1 ends a connection by its thousandth answer, whatever header a library set", async () => {
  const { socket } = openRaw(server.port, "");
  const isLast: boolean[] = [];
  for (let asked = 1; asked <= 1_000; asked += 1) {
    socket.write("GET /stream HTTP/1.1\r\nhost: x\r\n\r\n");
    let answer = "";
    while (!answer.endsWith("0\r\n\r\n")) answer += String(await once(socket, "data"));
    isLast.push(/^connection: close\r$/im.test(answer));
  }
  expect(isLast.indexOf(true)).toBe(999);
});

it("bar#HT-10 a library's answer is not sniffed or kept, and a stream keeps its own rule", async () => {
  const headersOf = async (path: string) => {
    const { headers } = await fetch(url(path));
    return [headers.get("x-content-type-options"), headers.get("cache-control")];
  };
  expect(await headersOf("/json")).toEqual(["nosniff", "no-store"]);
  expect(await headersOf("/stream")).toEqual(["nosniff", "no-cache"]);
});

it("keeps an idle connection as long as a balancer reuses it, beside header limits", async () => {
  const patient = await listenForTest(
    new Hono().get("/", (c) => c.text("ok")),
    { idleSeconds: 60 },
    { headersMs: 500, requestMs: 500, checkMs: 10 },
  );
  const { socket } = openRaw(patient.port, "");
  const get = async (): Promise<string> => {
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    return answer.toString();
  };
  expect(await get()).toContain("Keep-Alive: timeout=60");
  // The limits are over for a connection that sends half of its headers.
  expect(await raw("GET / HTTP/1.1\r\n", patient.port)).toContain("408");
  expect(await get()).toContain("200 OK");
});

it("finishes requests in flight before it stops, and accepts no new ones", async () => {
  const inFlight = fetch(url("/slow"));
  await slow.entered.promise;
  const stopped = server.stop(0);
  await sleep(5); // the grace of 0 is over in a later turn
  await expect(fetch(url("/"))).rejects.toThrow("fetch failed");
  slow.release.resolve();
  expect(await (await inFlight).text()).toBe("done");
  await stopped;
});

it("rfc9112#9.6 ends a connection with its next response, and loses no request", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = async (path = "/"): Promise<string | undefined> => {
    const [answer] = (await once(request(url(path), { agent }).end(), "response")) as [IncomingMessage];
    await text(answer);
    return answer.headers.connection;
  };
  expect(await get()).toBe("keep-alive");
  const underWay = get("/slow");
  await slow.entered.promise;
  const stopped = server.stop(300);
  slow.release.resolve();
  expect([await underWay, await get(), await get()]).toEqual(["close", "close", "close"]);
  await stopped;
  agent.destroy();
});

it("does not wait for clients that keep their connection after the last response", async () => {
  const inFlight = fetch(url("/slow"));
  await slow.entered.promise;
  const stopped = server.stop(0);
  await sleep(5);
  slow.release.resolve();
  const answer = await inFlight;
  expect(await answer.text()).toBe("done");
  await soonerThan(1_000, stopped);
});

it("rfc9112#9.6 ends the connection of a request that does not reach the app", async () => {
  const answer = await raw("GET / HTTP/1.1\r\nHost: a b\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/^connection: close\r$/im);
});

it("reports the port that is in use", async () => {
  await expect(listen(new Hono(), { host: "127.0.0.1", port: server.port })).rejects.toMatchObject({
    code: "EADDRINUSE",
  });
});
