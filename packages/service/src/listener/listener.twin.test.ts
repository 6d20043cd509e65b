/** The attacks of the tests beside it with one defence off at a time: they succeed. */
import type { IncomingMessage } from "node:http";
import { Hono } from "hono";
import { expect, it } from "vitest";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { endSurplusCookies, setBindingCookie } from "@oauth-broker/oauth-core/authorization-server";
import type { HttpLayer, Route } from "../http/http-layer.ts";
import { mounted } from "../testing/mounted.ts";
import { listenForTest, openRaw } from "../testing/raw-connection.ts";
import * as bodies from "./chopped-bodies.ts";
import * as connections from "./connections.ts";
import * as prefetch from "./prefetch.ts";
import * as target from "./request-target.ts";

it("twin: without the end of chopped bodies each byte becomes a buffer", async () => {
  const received: IncomingMessage[] = [];
  const app = new Hono().post("/", async (c) => {
    received.push((c.env as { readonly incoming: IncomingMessage }).incoming);
    return new Promise<Response>(() => undefined);
  });
  const attack = `POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(20_000)}`;
  const { port } = await listenForTest(app, {}, { drainMs: 0 });
  await openRaw(port, attack).whole;
  expect(received[0]?.readableLength).toBeLessThanOrEqual(257);
  weaken(bodies, () => ({ endChoppedBody: () => {} }));
  openRaw(port, attack);
  await expect.poll(() => received[1]?.readableLength).toBe(20_000);
});

it("twin: without shares one address takes all connections, and another one is shut out", async () => {
  const app = new Hono().get("/", (c) => c.text("ok"));
  const attack = async (): Promise<string> => {
    const { port } = await listenForTest(app, { maxConnections: 8 }, { drainMs: 0 });
    for (let count = 0; count < 8; count += 1) openRaw(port, "GET / HTTP/1.1\r\n", "127.0.0.2");
    return openRaw(port, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "127.0.0.3").whole;
  };
  expect(await attack()).toMatch(/200 OK/);
  weaken(connections, () => ({ shareConnections: () => {} }));
  expect(await attack()).toBe("");
});

it("twin: without a look at the target a path outside of a published prefix is served below it", async () => {
  const app = new Hono().get("/metrics", (c) => c.text("for the operator"));
  const { port } = await listenForTest(app);
  const attack = "GET /v1/%2e%2e/metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
  expect(await openRaw(port, attack).whole).toMatch(/^HTTP\/1\.1 404 /);
  weaken(target, () => ({ isPlainTarget: () => true }));
  expect(await openRaw(port, attack).whole).toMatch(/for the operator$/);
});

it("twin: without a look at its purpose a prefetch spends what the user's own request needs", async () => {
  let isSpent = false;
  const handle: Route["handle"] = () => {
    const status = isSpent ? 400 : 303;
    isSpent = true;
    return { status, headers: {}, body: null };
  };
  const { app } = mounted([{ method: "GET", path: "/callback", surface: "browser", handle }]);
  const attack = async (): Promise<number[]> => {
    isSpent = false;
    const ahead = await app.request("/callback", { headers: { "sec-purpose": "prefetch" } });
    return [ahead.status, (await app.request("/callback")).status];
  };
  expect(await attack()).toEqual([403, 303]);
  weaken(prefetch, () => ({ isPrefetch: () => false }));
  expect(await attack()).toEqual([303, 400]);
});

it("twin: without an end to surplus cookies a page fills a browser's (bar#ST-8)", async () => {
  let flows = 0;
  const handle: Route["handle"] = () => {
    flows += 1;
    const id = String(flows).padStart(22, "0");
    return { status: 303, headers: setBindingCookie("https://broker.example", id, "v".repeat(430)), body: null };
  };
  const attack = async (given: Pick<HttpLayer, "endSurplusCookies">): Promise<string> => {
    const { app } = mounted([{ method: "GET", path: "/start", surface: "browser", handle }], {
      isHttps: true,
      ...given,
    });
    const { port } = await listenForTest(app, {}, { drainMs: 0 });
    const jar = new Map<string, string>();
    const visit = async (): Promise<string> => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await openRaw(
        port,
        `GET /start HTTP/1.1\r\nhost: x\r\naccept: text/html\r\ncookie: ${cookie}\r\nconnection: close\r\n\r\n`,
      ).whole;
      for (const [, name = "", value = "", age] of answer.matchAll(/^set-cookie: ([^=]+)=([^;]*);.*Max-Age=(\d+)/gim))
        if (age === "0") jar.delete(name);
        else jar.set(name, value);
      return answer.split("\r\n", 1)[0] ?? "";
    };
    for (let count = 0; count < 100; count += 1) await visit();
    return visit();
  };
  expect(await attack({ endSurplusCookies })).toMatch(/ 303 /);
  expect(await attack({})).toMatch(/ 431 /);
});
