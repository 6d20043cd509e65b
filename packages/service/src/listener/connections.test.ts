/** Connections from several addresses of loopback, against a real server. */
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "@oauth-broker/oauth-core/testing";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { HttpTimeouts, Listening, ListenOptions } from "../serve.ts";
import { listenForTest, openRaw, type RawConnection } from "../testing/raw-connection.ts";
import { trackFreshConnections } from "./connections.ts";
import { networkOf, plainAddress } from "./peer-network.ts";

let server: Listening;

const NEVER_MS = 600_000;

const start = async (options: Partial<ListenOptions>, timeouts: Partial<HttpTimeouts> = {}): Promise<void> => {
  const app = new Hono().get("/", (c) => c.text("ok"));
  const patient = { headersMs: NEVER_MS, requestMs: NEVER_MS, firstRequestMs: NEVER_MS };
  server = await listenForTest(app, options, { ...patient, ...timeouts });
};

const open = (from: string, bytes: string): RawConnection => openRaw(server.port, bytes, from);

const GET = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const UNFINISHED = "GET / HTTP/1.1\r\nhost: x\r\n";

describe("bar#ST-8 one address", () => {
  it("takes a quarter of the connections, and another one gets its own", async () => {
    await start({ maxConnections: 16 });
    const held = Array.from({ length: 4 }, () => open("127.0.0.2", UNFINISHED));
    // In order: this one is the fifth.
    expect(await open("127.0.0.2", GET).whole).toBe("");
    expect(await open("127.0.0.3", GET).whole).toMatch(/200 OK/);
    held[0]?.socket.destroy();
    await expect.poll(async () => open("127.0.0.2", GET).whole).toMatch(/200 OK/);
    expect(held.slice(1).every(({ socket }) => !socket.destroyed)).toBe(true);
  });

  it("has no share where it is a proxy that the operator trusts", async () => {
    await start({ maxConnections: 16, isTrustedProxy: (address) => address === "127.0.0.2" });
    for (let count = 0; count < 6; count += 1) open("127.0.0.2", UNFINISHED);
    expect(await open("127.0.0.2", GET).whole).toMatch(/200 OK/);
  });

  it("is a network of IPv6, and IPv4 without the form that sockets give it", () => {
    expect(networkOf("2001:db8:0:1::7")).toBe(networkOf("2001:db8:0:1:ffff::1"));
    expect(networkOf("2001:db8:0:2::7")).not.toBe(networkOf("2001:db8:0:1::7"));
    expect([plainAddress("::ffff:192.0.2.1"), networkOf("192.0.2.1")]).toEqual(["192.0.2.1", "192.0.2.1"]);
  });
});

describe("bar#HT-5 a connection before its first request", () => {
  it("is ended after a while, silent or with a part of a head", async () => {
    await start({}, { firstRequestMs: 50 });
    const [silent, unfinished, blank] = [
      open("127.0.0.1", ""),
      open("127.0.0.1", UNFINISHED),
      open("127.0.0.1", "\r\n"),
    ];
    expect(await silent.whole).toBe("");
    expect(await unfinished.whole).toMatch(/^HTTP\/1\.1 408 /);
    expect(await blank.whole).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("has no such limit once it has come", async () => {
    await start({}, { firstRequestMs: 50 });
    const kept = open("127.0.0.1", "GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await open("127.0.0.1", "").whole).toBe("");
    expect(kept.socket.destroyed).toBe(false);
    kept.socket.write(GET);
    expect((await kept.whole).match(/200 OK/g)).toHaveLength(2);
  });

  it("is ended by a stop, which does not wait for it", async () => {
    await start({}, { drainMs: NEVER_MS });
    const [silent, kept] = [open("127.0.0.1", ""), open("127.0.0.1", "GET / HTTP/1.1\r\nhost: x\r\n\r\n")];
    expect(await text(open("127.0.0.1", GET).socket)).toContain("200 OK");
    await server.stop(0);
    expect(await silent.whole).toBe("");
    expect(await kept.whole).toContain("200 OK");
  });

  it("is ended also by a release of Node that counts it as busy", async () => {
    const plain = createServer();
    const fresh = trackFreshConnections(plain, NEVER_MS, () => undefined);
    const { port, close } = await listen(plain);
    const connected = once(plain, "connection");
    const { socket } = openRaw(port, "");
    await connected;
    fresh.endSilent();
    await expect.poll(() => socket.closed).toBe(true);
    await close();
  });
});
