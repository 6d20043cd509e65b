/** Clients that go on sending after they were answered, against a real server. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Hono } from "hono";
import { beforeEach, describe, expect, it } from "vitest";
import type { Listening } from "../serve.ts";
import { listenForTest, openRaw, type RawConnection } from "../testing/raw-connection.ts";

let server: Listening;
let asked: IncomingMessage[];

beforeEach(async () => {
  asked = [];
  const app = new Hono();
  app.post("/refused", (c) => {
    asked.push((c.env as { readonly incoming: IncomingMessage }).incoming);
    return c.text("refused", 413);
  });
  app.post("/read", async (c) => c.text(`read ${(await c.req.raw.text()).length}`));
  server = await listenForTest(app);
});

const head = (path: string, connection = "keep-alive"): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: ${connection}\r\ntransfer-encoding: chunked\r\n\r\n`;

/** @returns a connection that has been answered 413 */
async function refused(): Promise<RawConnection> {
  const connection = openRaw(server.port, head("/refused"));
  await expect.poll(connection.received).toContain("413");
  return connection;
}

describe("bar#HT-1 a body that comes after its answer", () => {
  it("is not made into buffers, and ends the connection beyond a megabyte", async () => {
    const { socket } = await refused();
    const { socket: ours } = asked[0] ?? expect.fail("nothing was asked");
    const parser = (ours as unknown as { parser: Record<number, unknown> & { constructor: { kOnBody: number } } })
      .parser;
    expect(parser[parser.constructor.kOnBody]).toBeUndefined();
    const bytes = "1\r\na\r\n".repeat(20_000);
    while (!socket.destroyed)
      if (!socket.write(bytes))
        await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined);
    expect(ours.bytesRead).toBeLessThan(64 * 1024 * 1024);
  });

  it.each(["keep-alive", "close"])("rfc9112#9.6 leaves a moment to read the response: %s", async (connection) => {
    const { socket, whole } = openRaw(server.port, head("/refused", connection));
    socket.pause();
    await expect.poll(() => asked.length).toBe(1);
    const { socket: ours } = asked[0] ?? expect.fail("nothing was asked");
    const bytes = "1\r\na\r\n".repeat(20_000);
    // The server stops reading: then these no longer leave.
    while (!ours.destroyed && socket.writableLength < 8 * 1024 * 1024) {
      socket.write(bytes);
      await new Promise(setImmediate);
    }
    expect(ours.destroyed).toBe(false);
    socket.resume();
    expect(await whole).toContain("413");
    expect(ours.bytesRead).toBeLessThan(64 * 1024 * 1024);
  });

  it("may end by itself: the connection then serves the next request, body and all", async () => {
    for (let round = 0; round < 20; round += 1) {
      const { socket, received } = await refused();
      socket.write(`3\r\nabc\r\n0\r\n\r\n${head("/read")}5\r\nabcde\r\n0\r\n\r\n`);
      await expect.poll(received).toContain("read 5");
      socket.destroy();
    }
  });
});
