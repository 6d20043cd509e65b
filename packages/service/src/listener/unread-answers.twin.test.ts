/** The attacks of unread-answers.test.ts with one defence off at a time: they succeed. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { beforeEach, expect, it } from "vitest";
import { listenForTest, openUnread } from "../testing/raw-connection.ts";
import * as unread from "./unread-answers.ts";

const LARGE = 16 * 1024 * 1024;
const STALLED_MS = 400;
let begun: number;
/** The server's side of each connection that asked for something large. */
let asking: Socket[];

beforeEach(() => {
  begun = 0;
  asking = [];
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
  const { port } = await listenForTest(app, {}, { stalledWriteMs: STALLED_MS });
  openUnread(port, bytes);
  while (asking.length === 0) await sleep(10);
  await sleep(3 * STALLED_MS);
}

it("twin: without an end to stalled writes an unread connection stays with its data", async () => {
  await ask(get("/large"));
  expect(asking[0]?.destroyed).toBe(true);
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
  weaken(unread, () => ({ createTurnTaking: () => (_request, _response, answer) => answer() }));
  asking = [];
  await ask(bytes);
  expect(begun).toBe(100);
});
