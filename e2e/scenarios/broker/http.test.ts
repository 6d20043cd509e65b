/**
 * Rows HT-1 and HT-4 of the bar, on the built broker, with bytes that no HTTP client would send.
 */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FORM, startHttpBroker } from "../../support/broker/http.ts";
import { exchange as exchangeAt } from "../../support/raw-http.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const broker = shared(startHttpBroker);
/** To the broker. */
const exchange = (sent: Omit<Parameters<typeof exchangeAt>[0], "port">) => exchangeAt({ ...sent, port: broker.port });

/** Of another process, on systems that report it; 0 elsewhere. */
function residentBytes(pid: number): number {
  const file = `/proc/${pid}/status`;
  return existsSync(file) ? 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, "utf8"))?.[1] ?? 0) : 0;
}

describe("bar#HT-1 bodies", () => {
  it("refuses 100 MB by its declared length, before any of it is sent", async () => {
    const request = broker.head("POST /v1/par HTTP/1.1", FORM, "Content-Length: 104857600");
    const answer = await exchange({ bytes: request, untilAnswer: true });
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('"error":"invalid_request"');
  });

  it("stops reading a body without declared length, soon after the limit", async () => {
    const request = broker.head("POST /v1/par HTTP/1.1", FORM, "Transfer-Encoding: chunked");
    const chunk = `4000\r\n${"a".repeat(0x4000)}\r\n`;
    const answer = await exchange({ bytes: request, endless: chunk, timeoutMs: 20_000 });
    expect(answer).toMatchObject({ status: 413, isClosed: true });
    // Bounded by the buffers of two sockets, not by what the caller sends.
    // The connection is looked at every 5 ms; without that the library takes 64 MiB and more.
    expect(answer.bytesSent).toBeLessThan(48 * 1024 * 1024);
    expect(await broker.health()).toBe(200);
  });

  it.each([
    ["POST /healthz", [405]],
    ["POST /v1/par?without=type", [415]],
    ["POST /none", [404]],
    // The connection ends at once; the caller may or may not read the answer.
    ["GET /healthz", [400, 0]],
    ["GET /v1/callback", [400, 0]],
  ])("does not swallow the body of %s, which no handler reads", async (what, statuses) => {
    const request = broker.head(`${what} HTTP/1.1`, "Transfer-Encoding: chunked");
    const chunk = `4000\r\n${"a".repeat(0x4000)}\r\n`;
    const before = residentBytes(broker.process.pid);
    const answer = await exchange({ bytes: request, endless: chunk, timeoutMs: 20_000 });
    expect(answer.isClosed).toBe(true);
    expect(statuses).toContain(answer.status);
    // What was received in that time was discarded, not kept.
    expect(residentBytes(broker.process.pid) - before).toBeLessThan(160 * 1024 * 1024);
    expect(await broker.health()).toBe(200);
  });

  it("refuses a GET with a body", async () => {
    const bytes = `${broker.head("GET /healthz HTTP/1.1", "Content-Length: 5")}hello`;
    expect(await exchange({ bytes })).toMatchObject({ status: 400, isClosed: true });
    const empty = broker.head("GET /healthz HTTP/1.1", "Content-Length: 0", "Connection: close");
    expect((await exchange({ bytes: empty })).status).toBe(200);
  });

  it("refuses a body with two lengths", async () => {
    const smuggled = "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const lengths of [
      ["Content-Length: 5", "Transfer-Encoding: chunked"],
      ["Content-Length: 5", "Content-Length: 6"],
      ["Content-Length: -1"],
      ["Content-Length: 5, 5"],
      ["Transfer-Encoding: chunked, identity"],
      ["Transfer-Encoding: xchunked"],
    ]) {
      const answer = await exchange({ bytes: broker.head("POST /v1/par HTTP/1.1", FORM, ...lengths) + smuggled });
      expect({ lengths, status: answer.status, isClosed: answer.isClosed }).toEqual({
        lengths,
        status: 400,
        isClosed: true,
      });
      expect(answer.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    }
    expect(await broker.health()).toBe(200);
  });
});

describe("bar#HT-4 bytes that have no place in a request", () => {
  const paths = [
    "/v1/callback?state=%E0%A4%A",
    "/v1/callback?state=%00",
    "/v1/callback?state=a%0d%0aSet-Cookie:%20x=1",
    "/v1/authorize?client_id=%ff&request_uri=%fe",
    "/%E0%A4%A",
    "/%00",
    "/%0d%0aX:y",
    "/v1/vendors/%E0%A4%A",
    "/v1/vendors/%00",
    "/v1/vendors/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/v1/custom/%E0%A4%A/callback",
    "/v1/custom/%0d%0a/callback",
    "/v1/custom/%2e%2e/callback",
    "/v1/../v1/vendors/no-such-vendor",
    "/\\..\\v1",
    "//attacker.example/v1/callback",
    "/v1/callback#fragment?state=x",
    "http://attacker.example/v1/callback?state=x",
    "/v1/callback?__proto__=x&constructor=y&state=z",
    "/?%",
  ];

  it.each(paths)("GET %s is a 4xx, or a page that is open to all", async (path) => {
    const answer = await exchange({ bytes: broker.head(`GET ${path} HTTP/1.1`, "Connection: close") });
    expect([200, 400, 404]).toContain(answer.status);
    if (answer.status === 200) expect(path).toBe("/?%");
    expect(answer.text).not.toMatch(/^(set-cookie|x|location):/im);
    expect(await broker.health()).toBe(200);
  });

  const broken: Readonly<Record<string, string | Uint8Array>> = {
    "a NUL in the path": "GET /v1/\0callback HTTP/1.1\r\nHost: x\r\n\r\n",
    "a space in the path": "GET /v1/call back HTTP/1.1\r\nHost: x\r\n\r\n",
    "a lone line feed in a header":
      "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b\nX-C: d\r\nContent-Length: 0\nX: y\r\n\r\n",
    "a NUL in a header": "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b\0c\r\n\r\n",
    "a header without a name": "GET /healthz HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",
    "a space before a colon": "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length : 0\r\n\r\n",
    "a folded header": "GET /healthz HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
    "no Host": "GET /healthz HTTP/1.1\r\n\r\n",
    "an invalid Host": "GET /healthz HTTP/1.1\r\nHost: a b/c?d#e\r\n\r\n",
    "a Host with user information": "GET /v1/callback HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "an unknown version": "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    TLS: new Uint8Array([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03]),
    "a path of 20 kB": `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    "headers of 40 kB": `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`,
    "a tunnel": "CONNECT attacker.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a trace": "TRACE /v1/token HTTP/1.1\r\nHost: x\r\n\r\n",
  };

  it.each(Object.entries(broken))("%s is a 4xx or no answer at all", async (_, bytes) => {
    const answer = await exchange({ bytes, timeoutMs: 1_000, untilAnswer: true });
    expect(answer.status === 0 || (answer.status >= 400 && answer.status < 500), answer.text).toBe(true);
    expect(await broker.health()).toBe(200);
  });

  it("does not fail for a broken Authorization header or a broken cookie", async () => {
    for (const authorization of [
      "Bearer %E0%A4",
      "Basic \x80\xff",
      "Basic",
      "Basic =",
      "\u00e9",
      "Digest a=b",
      "Basic OjoO",
    ]) {
      const bytes = broker.head(
        "POST /v1/token HTTP/1.1",
        FORM,
        `Authorization: ${authorization}`,
        "Content-Length: 0",
        "Connection: close",
      );
      const answer = await exchange({ bytes: Buffer.from(bytes, "latin1") });
      expect([400, 401]).toContain(answer.status);
    }
    for (const cookie of ["=", ";;;", "flow-", "flow-a=%E0%A4", "\x80\xff=\x80", "a".repeat(8000)]) {
      const bytes = broker.head("GET /v1/callback?state=x HTTP/1.1", `Cookie: ${cookie}`, "Connection: close");
      expect((await exchange({ bytes: Buffer.from(bytes, "latin1") })).status).toBe(400);
    }
    expect(await broker.health()).toBe(200);
  });
});
