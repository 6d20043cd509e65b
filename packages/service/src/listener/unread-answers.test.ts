/** Raw sockets that do not read what they asked for, against a real server. */
import { soonerThan } from "@oauth-broker/oauth-core/testing";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Hono } from "hono";
import { beforeEach, describe, expect, it } from "vitest";
import type { Listening, ListenOptions } from "../serve.ts";
import { listenForTest, openRaw, openUnread } from "../testing/raw-connection.ts";

const MIB = 1024 * 1024;
/** More than the system itself buffers for a client that does not read. */
const LARGE = 16 * MIB;
const STALLED_MS = 2_000;

let server: Listening;
/** How many requests were begun. */
let begun: number;
/** The most that buffers of this process held, in MiB, as a large answer was made. */
let most: number;
/**
 * The server's side of each connection that requested something large: a client that does not read
 * does not see its end.
 */
let asking: Socket[];

const start = async (options: Partial<ListenOptions> = {}): Promise<void> => {
  const app = new Hono();
  app.get("/large", (c) => {
    asking.push((c.env as { readonly incoming: { readonly socket: Socket } }).incoming.socket);
    const body = Buffer.alloc(LARGE);
    most = Math.max(most, process.memoryUsage().arrayBuffers / MIB);
    return new Response(body);
  });
  app.get("/small", (c) => {
    begun += 1;
    return c.text(`${begun}`.padEnd(100_000, "."));
  });
  app.get("/late", async (c) => {
    await sleep(2 * STALLED_MS);
    return c.text("late");
  });
  server = await listenForTest(app, options, { stalledWriteMs: STALLED_MS });
};

beforeEach(async () => {
  begun = 0;
  most = 0;
  asking = [];
  await start();
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const last = (path: string): string => get(path).replace("host", "connection: close\r\nhost");
const open = (bytes: string): Socket => openUnread(server.port, bytes);
const read = async (bytes: string): Promise<string> => openRaw(server.port, bytes).whole;
/** The connection is over on this side of it. */
const untilOver = async (socket: Socket): Promise<void> => {
  while (!socket.destroyed) await sleep(20);
};
const bufferedMiB = async (): Promise<number> => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // The buffers of a closed connection are released in a later turn.
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await sleep(20);
  }
  return process.memoryUsage().arrayBuffers / MIB;
};

describe("bar#HT-5 a connection that reads nothing of its answer", () => {
  it("is ended within the time a write may stall, and its buffers are freed", async () => {
    const before = await bufferedMiB();
    for (let count = 0; count < 4; count += 1) open(get("/large"));
    // On a busy machine the first may be over before the last has asked.
    while (asking.length < 4) await sleep(20);
    expect(most).toBeGreaterThan(before + 50);
    await soonerThan(STALLED_MS + 2_000, Promise.all(asking.map(untilOver)));
    asking = [];
    expect(await bufferedMiB()).toBeLessThan(before + 20);
  });

  it("is not ended while it reads slowly", async () => {
    const socket = open(last("/large"));
    let received = 0;
    socket.on("data", (chunk: Buffer) => {
      received += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
    let isLater = false;
    void sleep(STALLED_MS).then(() => (isLater = true));
    await new Promise((resolve) => socket.once("close", resolve));
    expect(received).toBeGreaterThan(LARGE);
    expect(isLater).toBe(true);
  });

  it("is not ended while it waits for an answer", async () => {
    expect(await read(last("/late"))).toMatch(/late$/);
  });
});

describe("bar#HT-5 a connection that asks ahead", () => {
  it("is answered in order, one answer at a time", async () => {
    const answer = await read(get("/small").repeat(5) + last("/late"));
    expect([...answer.matchAll(/\r\n(\d+)\.+/g)].map(([, at]) => Number(at))).toEqual([1, 2, 3, 4, 5]);
    expect(answer).toMatch(/late$/);
  });

  it("has no request started whose response cannot be sent", async () => {
    const socket = open(get("/large") + get("/small").repeat(10));
    await sleep(100);
    expect([socket.destroyed, begun]).toEqual([false, 0]);
  });

  it("is ended at once where it asks for more than sixteen beyond the one under way", async () => {
    await soonerThan(STALLED_MS, untilOver(open(get("/late") + get("/small").repeat(17))));
    expect(begun).toBe(0);
  });
});

describe("bar#HT-5 connections beyond the limit", () => {
  it("are closed at once; another may come when one has gone", async () => {
    await server.stop(0);
    await start({ maxConnections: 2, isTrustedProxy: () => true });
    const [first] = [open(""), open("")];
    expect(await read(get("/small"))).toBe("");
    first.destroy();
    await sleep(50);
    expect(await read(last("/small"))).toContain("200 OK");
  });
});
