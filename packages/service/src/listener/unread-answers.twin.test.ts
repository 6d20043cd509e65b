/** The attacks of unread-answers.test.ts with one defence off at a time: they succeed. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Listening, listen } from "../serve.ts";
import * as unread from "./unread-answers.ts";

const LARGE = 16 * 1024 * 1024;
const STALLED_MS = 400;
let server: Listening | undefined;
let begun: number;
/** The server's side of each connection that asked for something large. */
let asking: Socket[];
const sockets: Socket[] = [];

beforeEach(() => {
  begun = 0;
  asking = [];
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.stop(0);
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

/** A connection that sends this and reads nothing. */
async function ask(bytes: string): Promise<void> {
  const app = new Hono();
  app.get("/large", (c) => {
    asking.push((c.env as { readonly incoming: { readonly socket: Socket } }).incoming.socket);
    return new Response(Buffer.alloc(LARGE));
  });
  app.get("/small", (c) => {
    begun += 1;
    return c.text("small");
  });
  server = await listen(app, { host: "127.0.0.1", port: 0 }, { stalledWriteMs: STALLED_MS });
  const socket = connect(server.port, "127.0.0.1", () => socket.write(bytes));
  socket.on("error", () => undefined);
  sockets.push(socket);
  while (asking.length === 0) await sleep(10);
  await sleep(3 * STALLED_MS);
}

it("twin: without an end to stalled writes an unread connection stays with its data", async () => {
  await ask(get("/large"));
  expect(asking[0]?.destroyed).toBe(true);
  await server?.stop(0);
  weaken(unread, () => ({ endStalledWrites: () => {} }));
  asking = [];
  await ask(get("/large"));
  expect(asking[0]?.destroyed).toBe(false);
  expect(asking[0]?.writableLength).toBeGreaterThan(LARGE / 4);
});

it("twin: without turns all that a connection asks ahead is answered into memory", async () => {
  const bytes = get("/large") + get("/small").repeat(100);
  await ask(bytes);
  expect(begun).toBe(0);
  await server?.stop(0);
  weaken(unread, () => ({ createTurnTaking: () => (_request, _response, answer) => answer() }));
  asking = [];
  await ask(bytes);
  expect(begun).toBe(100);
});
