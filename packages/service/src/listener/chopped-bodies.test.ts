/** Raw sockets that send a body in chunks of one byte, against a real server. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { Hono } from "hono";
import { beforeEach, expect, it } from "vitest";
import { readFormText } from "../http/body.ts";
import type { Listening } from "../serve.ts";
import { listenForTest, openRaw } from "../testing/raw-connection.ts";

const FORM = "application/x-www-form-urlencoded";

let server: Listening;
/** What a reader of the application got: text, or the refusal. */
let read: (string | number)[];
/** How many pieces of a body the server's side of a connection was given. */
let pieces: number;

beforeEach(async () => {
  read = [];
  pieces = 0;
  const app = new Hono();
  app.post("/form", async (c) => {
    const { incoming } = c.env as { readonly incoming: IncomingMessage };
    incoming.on("data", () => (pieces += 1));
    read.push(
      await readFormText(c, { bodyBytes: 1_000_000 }).then(
        (form) => form.length,
        (error: Error) => error.message,
      ),
    );
    return c.text("read");
  });
  app.post("/stream", async (c) => {
    read.push(
      await c.req.raw.text().then(
        (text) => text.length,
        () => "cut",
      ),
    );
    return c.text("read");
  });
  app.post("/unread", async () => new Promise<Response>(() => undefined));
  server = await listenForTest(app);
});

const head = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${FORM}\r\ntransfer-encoding: chunked\r\n\r\n`;
const chunks = (count: number): string => "1\r\na\r\n".repeat(count);

/** @returns what the server sent until it ended the connection */
const send = async (bytes: string): Promise<string> => openRaw(server.port, bytes).whole;

it.each(["/form", "/stream", "/unread"])(
  "bar#HT-1 resets a connection whose body comes byte by byte, at %s",
  async (path) => {
    // Never ended: only the reset ends this connection before its time.
    expect(await send(head(path) + chunks(60_000))).toBe("");
    if (path !== "/unread")
      await expect.poll(() => read).toEqual([path === "/form" ? "invalid_request: The body was cut short" : "cut"]);
    expect(pieces).toBeLessThanOrEqual(257);
  },
);

it("makes no buffer of what it has read already, and takes the next body of that parser", async () => {
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 5 }, () => send(head("/unread") + chunks(12_000))));
    const answer = await fetch(`http://127.0.0.1:${server.port}/stream`, { method: "POST", body: "a=1&b=2" });
    expect(await answer.text()).toBe("read");
  }
  expect(read).toEqual(Array.from({ length: 5 }, () => 7));
});

it("reads an honest body in the pieces that slow networks make of it", async () => {
  const headers = { "content-type": FORM };
  const asked = request(`http://127.0.0.1:${server.port}/form`, { method: "POST", headers });
  for (let sent = 0; sent < 250; sent += 1) asked.write("a");
  for (let sent = 0; sent < 1_000; sent += 1) asked.write("a".repeat(536));
  const [answer] = (await once(asked.end(), "response")) as [IncomingMessage];
  answer.resume();
  expect([answer.statusCode, read]).toEqual([200, [250 + 536_000]]);
});
