import { once } from "node:events";
import { get } from "node:http";
import { setImmediate } from "node:timers/promises";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { httpAnswer, startLoopbackServer } from "../testing/network/loopback-server.ts";
import { closeAfterEach, open, start } from "../testing/network/test-egress.ts";
import type { EgressErrorKind } from "./errors.ts";
import { REAL_NETWORK } from "./index.ts";

closeAfterEach();

const LIMIT = 262_144;
const failure = (kind: EgressErrorKind, sent = true): object => ({ name: "EgressError", kind, sent });

afterEach(() => {
  vi.useRealTimers();
});

describe("size", () => {
  const fetchBody = async (answer: Buffer): Promise<Response> => {
    const server = await start((socket) => socket.write(answer));
    return open().fetch(server.origin);
  };
  const tooLarge = failure("too_large");
  const unreadable = failure("unreadable");

  it("bar#EG-8 takes a body of exactly 256 KiB and not a byte more", async () => {
    expect((await (await fetchBody(httpAnswer("x".repeat(LIMIT)))).arrayBuffer()).byteLength).toBe(LIMIT);
    await expect(fetchBody(httpAnswer("x".repeat(LIMIT + 1)))).rejects.toMatchObject(tooLarge);
  });

  it("bar#EG-8 cuts a body without end and closes the connection", async () => {
    let cut = false;
    const server = await start((socket) => {
      socket.on("close", () => (cut = true));
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      const more = (): void =>
        void (socket.writable && socket.write(`4000\r\n${"x".repeat(0x4000)}\r\n`, () => setTimeout(more)));
      more();
    });
    await expect(open().fetch(server.origin)).rejects.toMatchObject(tooLarge);
    await expect.poll(() => cut).toBe(true);
  });

  it("bar#EG-8 ends a body in one-byte chunks, and takes one in packets", async () => {
    const chunked = (parts: readonly string[]): Buffer =>
      Buffer.from(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("")}0\r\n\r\n`,
      );
    let cut = false;
    const server = await start((socket) => {
      socket.on("close", () => (cut = true));
      socket.write(chunked(Array.from({ length: 2_000 }, () => "x")).subarray(0, -5));
    });
    await expect(open().fetch(server.origin)).rejects.toMatchObject(tooLarge);
    await expect.poll(() => cut).toBe(true);
    const packets = Array.from({ length: 450 }, () => "x".repeat(536));
    expect(
      await (await fetchBody(chunked([...Array.from({ length: 250 }, () => "x"), ...packets]))).text(),
    ).toHaveLength(250 + 450 * 536);
  });

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["GZIP", gzipSync],
    ["identity, gzip", gzipSync],
  ] as const)("bar#EG-8 decodes %s up to the limit, and stops a bomb", async (coding, encode) => {
    const fits = await fetchBody(httpAnswer(encode("x".repeat(LIMIT)), { "content-encoding": coding }));
    expect(await fits.text()).toBe("x".repeat(LIMIT));
    expect([fits.headers.get("content-encoding"), fits.headers.get("content-length")]).toEqual([null, null]);
    await expect(
      fetchBody(httpAnswer(encode("x".repeat(LIMIT + 1)), { "content-encoding": coding })),
    ).rejects.toMatchObject(tooLarge);
    const bomb = encode(Buffer.alloc(4 * LIMIT));
    expect(bomb.length).toBeLessThan(LIMIT);
    await expect(fetchBody(httpAnswer(bomb, { "content-encoding": coding }))).rejects.toMatchObject(tooLarge);
  });

  it("bar#EG-8 counts all members of a gzip body together", async () => {
    const member = gzipSync(Buffer.alloc(200_000));
    await expect(
      fetchBody(httpAnswer(Buffer.concat([member, member]), { "content-encoding": "gzip" })),
    ).rejects.toMatchObject(tooLarge);
  });

  it.each(["identity", "utf-8", "UTF-8", "none", "identity, utf8", ","])(
    "rfc9110#8.4 takes %j for no coding",
    async (coding) => {
      expect(await (await fetchBody(httpAnswer("{}", { "content-encoding": coding }))).text()).toBe("{}");
    },
  );

  it("names the coding that it cannot decode, without what does not belong into a name", async () => {
    const headers = { "content-encoding": `compress, x"\u00e9=${"y".repeat(100)}` };
    const detail = expect.stringMatching(/: content coding compress x___y{19} is not supported$/) as unknown;
    await expect(fetchBody(httpAnswer("x", headers))).rejects.toMatchObject({ ...unreadable, detail });
  });

  it.each([
    ["an unknown coding", "aes128gcm", Buffer.from("x")],
    ["zstd that is none", "zstd", Buffer.from("x")],
    ["two codings", "gzip, gzip", gzipSync(gzipSync("x"))],
    ["a property of every object", "constructor", Buffer.from("x")],
    ["a cut body", "gzip", gzipSync("x".repeat(1_000)).subarray(0, -9)],
    ["a damaged body", "br", Buffer.from("not brotli at all")],
  ])("bar#EG-8 refuses %s", async (_what, coding, body) => {
    await expect(fetchBody(httpAnswer(body, { "content-encoding": coding }))).rejects.toMatchObject(unreadable);
  });

  it("bar#EG-8 stops a flood of headers at 32 KiB", async () => {
    const flood = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x-${index}`, "y".repeat(1_000)]));
    await expect(fetchBody(httpAnswer("", flood))).rejects.toMatchObject(tooLarge);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x-${index}`, "y".repeat(1_000)]));
    expect((await fetchBody(httpAnswer("", many))).headers.get("x-29")).toHaveLength(1_000);
  });
});

describe("time", () => {
  it.each([
    ["an answer", "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", "x"],
    ["headers", "HTTP/1.1 200 OK\r\n", "x-a: b\r\n"],
  ])("bar#EG-8 cuts %s without an end that drips", async (_what, first, drop) => {
    const server = await start((socket) => {
      socket.write(first);
      const drip = setInterval(() => socket.write(drop), 10);
      socket.on("close", () => clearInterval(drip));
    });
    await expect(open({ timeoutMs: 150 }).fetch(server.origin)).rejects.toMatchObject(failure("timeout"));
  });

  it("bar#EG-8 gives up connecting before the whole time is over, unsent", async () => {
    const server = await start(() => undefined);
    const egress = open({}, { connectTimeoutMs: 100, lookup: () => new Promise(() => undefined) });
    // One never finishes its handshake, the other never gets an answer from DNS.
    for (const url of [server.origin.replace("http", "https"), "https://vendor.example/"]) {
      await expect(egress.fetch(url)).rejects.toMatchObject(failure("connect", false));
    }
    expect(REAL_NETWORK.connectTimeoutMs).toBe(3_000);
  });

  it("bar#EG-8 counts waiting for a connection as part of the whole, unsent", async () => {
    const egress = open({ timeoutMs: 50 }, { connectTimeoutMs: 100, lookup: () => new Promise(() => undefined) });
    await expect(egress.fetch("https://vendor.example/")).rejects.toMatchObject(failure("timeout", false));
  });

  it("follows the caller's signal before, while connecting, and while waiting for the answer", async () => {
    const server = await start(() => abort.abort());
    const egress = open({}, { connectTimeoutMs: 100, lookup: () => new Promise(() => undefined) });
    await expect(egress.fetch(server.origin, { signal: AbortSignal.abort() })).rejects.toMatchObject(
      failure("timeout", false),
    );
    const early = new AbortController();
    const connecting = egress.fetch("https://vendor.example/", { signal: early.signal });
    early.abort();
    await expect(connecting).rejects.toMatchObject(failure("timeout", false));
    const abort = new AbortController();
    await expect(egress.fetch(server.origin, { signal: abort.signal })).rejects.toMatchObject(failure("timeout"));
    expect(server.received.length).toBe(1);
  });
});

describe("connections", () => {
  it.each([
    ["closes without sending anything", (socket: { destroy: () => unknown }) => socket.destroy()],
    ["ends without sending anything", (socket: { end: () => unknown }) => socket.end()],
  ])("bar#VR-5 never sends twice to a server that %s", async (_what, act) => {
    const server = await start((socket) => act(socket));
    await expect(open().fetch(server.origin, { method: "POST", body: "code=x" })).rejects.toMatchObject(
      failure("broken"),
    );
    expect(server.received.length).toBe(1);
  });

  it("bar#VR-5 counts a request on a kept connection that the server drops as sent", async () => {
    const server = await start((socket, turn) => (turn === 1 ? socket.write(httpAnswer("")) : socket.destroy()));
    const egress = open();
    await egress.fetch(server.origin, { method: "POST", body: "code=1" });
    // A connection rests for one turn before it is used again.
    await setImmediate();
    await expect(egress.fetch(server.origin, { method: "POST", body: "code=2" })).rejects.toMatchObject(
      failure("broken"),
    );
    expect(server.received.length).toBe(1);
  });

  it.each([
    ["a body shorter than announced", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"],
    ["a chunked body without its end", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"],
    ["half of the headers", "HTTP/1.1 200 OK\r\ncontent-type: appl"],
    ["half of the headers, with a length", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-type: appl"],
    ["half of the first line", "HTTP/1.1 20"],
  ])("bar#EG-8 takes %s for broken", async (_what, bytes) => {
    const server = await start((socket) => socket.end(bytes));
    await expect(open().fetch(server.origin)).rejects.toMatchObject(failure("broken"));
  });

  const OK = "HTTP/1.1 200 OK\r\n";
  const CHUNKED = "transfer-encoding: chunked\r\n";
  it.each([
    ["a chunk size that is not a number", `${OK}${CHUNKED}\r\nzz\r\n{}\r\n`],
    ["something else than HTTP", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
    ["lines that end in LF alone", "HTTP/1.1 200 OK\ncontent-length: 2\n\n{}"],
    ["a folded header", `${OK}x-a: a\r\n b\r\ncontent-length: 2\r\n\r\n{}`],
    ["a space in a header's name", `${OK}x a: b\r\ncontent-length: 2\r\n\r\n{}`],
    ["a control character in a header", `${OK}x-a: a\0b\r\ncontent-length: 2\r\n\r\n{}`],
    ["a length that is no number", `${OK}content-length: two\r\n\r\n{}`],
    ["chunks and a length", `${OK}${CHUNKED}content-length: 2\r\n\r\n0\r\n\r\n`],
    ["a status that is no number", "HTTP/1.1 abc OK\r\ncontent-length: 2\r\n\r\n{}"],
    ["a version that is none", "HTTP/x.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"],
  ])("bar#EG-8 takes %s for unreadable, and names the code that Node's own parser gives", async (_what, bytes) => {
    const server = await start((socket) => socket.end(bytes));
    const [error] = (await once(get(server.origin), "error")) as [NodeJS.ErrnoException];
    expect(error.code).toMatch(/^HPE_/);
    await expect(open().fetch(server.origin)).rejects.toMatchObject({
      ...failure("unreadable"),
      detail: `${server.origin}: ${error.code}`,
    });
  });

  it.each([
    ["a status no Response has", "HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\n{}"],
    ["an upgrade that was not requested", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
    ["an upgrade to nothing", `HTTP/1.1 101 Switching\r\n\r\n${OK}content-length: 2\r\n\r\n{}`],
    ["100 Continue, which undici does not skip", `HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\n{}`],
    ["two lengths", `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\n{}x`],
    ["a length and chunks", `${OK}content-length: 2\r\n${CHUNKED}\r\n0\r\n\r\n`],
  ])("bar#EG-8 takes %s for unreadable", async (_what, bytes) => {
    const server = await start((socket) => socket.end(bytes));
    await expect(open().fetch(server.origin)).rejects.toMatchObject(failure("unreadable"));
  });

  it("rfc9110#15.2 skips ten informational answers, and ends a connection with more", async () => {
    const hints = (count: number): string => "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(count);
    const answers = [10, 11].map((count) => `${hints(count)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}`);
    const server = await start((socket) => socket.write(answers[server.received.length - 1] ?? ""));
    // Each has a connection of its own.
    expect(await (await open().fetch(server.origin)).text()).toBe("{}");
    await expect(open().fetch(server.origin)).rejects.toMatchObject(failure("unreadable"));
  });

  it("skips informational answers, and takes those without a body", async () => {
    const server = await start((socket) =>
      socket.end("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\nx-a: 1\r\n\r\n"),
    );
    const response = await open().fetch(server.origin);
    expect([response.status, response.headers.get("link"), response.headers.get("x-a"), await response.text()]).toEqual(
      [204, null, "1", ""],
    );
  });

  it("says that nothing was sent when no server listens", async () => {
    const server = await startLoopbackServer(() => undefined);
    await server.close();
    await expect(open().fetch(server.origin, { method: "POST", body: "x" })).rejects.toMatchObject(
      failure("connect", false),
    );
  });

  it.each([
    ["gives no hint", {}],
    ["hints at ten minutes", { connection: "keep-alive", "keep-alive": "timeout=600" }],
  ])("are not used again after 4 s idle when the server %s", async (_what, headers) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const server = await start((socket) => socket.write(httpAnswer("", headers)));
    const egress = open();
    await egress.fetch(server.origin);
    await vi.advanceTimersByTimeAsync(3_900);
    await egress.fetch(server.origin);
    expect(server.received.length).toBe(1);
    await vi.advanceTimersByTimeAsync(4_001);
    await egress.fetch(server.origin);
    expect(server.received.length).toBe(2);
  });
});
