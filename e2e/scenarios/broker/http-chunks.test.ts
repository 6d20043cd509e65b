/**
 * Rows HT-1 and EG-8 of the bar: bodies and vendors' answers in one-byte chunks take no more memory
 * than the same bytes in one chunk, which go first.
 */
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { listen, shared, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { brokerYaml, createSecrets, vendorEntry } from "../../support/broker/configuration.ts";
import { FORM } from "../../support/broker/http.ts";
import { basic } from "../../support/broker/platform.ts";
import { startBrokerProcess } from "../../support/broker/process.ts";
import { freePort } from "../../support/free-port.ts";
import { type McpServer, startMcpServer } from "../../support/mcp/process.ts";

const MIB = 1024 * 1024;
const { sockets, bytes, answers } = volume({
  test: { sockets: 8, bytes: 20_000, answers: 4 },
  soak: { sockets: 40, bytes: 60_000, answers: 16 },
});
const ANSWER_BYTES = 200_000;

/** The same bytes in one chunk. */
const inOneChunk = (count: number): string => `${count.toString(16)}\r\n${"a".repeat(count)}\r\n`;
const byteByByte = (count: number): string => "1\r\na\r\n".repeat(count);

interface Target {
  readonly port: number;
  readonly pid: number;
  /** Of a request with `Transfer-Encoding: chunked`, with the empty line. */
  readonly head: string;
}

/** @returns by how much the peak of one-byte chunks is above that of one chunk */
async function growth(target: Target): Promise<number> {
  const control = await sendChunks(target, inOneChunk(bytes), false);
  const attack = await sendChunks(target, byteByByte(bytes), true);
  expect([control.ended, attack.ended]).toEqual([0, sockets]);
  return attack.peakBytes - control.peakBytes;
}

/**
 * On many sockets at once, while a path is asked for that is answered: until all has been sent, or
 * the other side has ended the sockets. The body is not ended.
 */
async function sendChunks({ port, pid, head }: Target, body: string, untilEnded: boolean) {
  let [ended, isSent] = [0, false];
  const load = Array.from({ length: sockets }, () => {
    const socket = connect(port, "127.0.0.1").resume();
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    socket.on("close", () => {
      ended += 1;
      resolve();
    });
    socket.on("error", () => undefined);
    socket.write(head + body, () => (untilEnded ? undefined : resolve()));
    return { socket, sent };
  });
  const allSent = Promise.all(load.map(({ sent }) => sent)).then(() => (isSent = true));
  // Once more after the last byte: what was sent is handled before that.
  for (let rounds = 0; rounds < 2; rounds += isSent ? 1 : 0) {
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).arrayBuffer();
  }
  await allSent;
  const found = { peakBytes: peakOf(pid), ended };
  for (const { socket } of load) socket.destroy();
  return found;
}

/** @returns resident memory at its highest since the process began; 0 on systems that do not say it */
function peakOf(pid: number): number {
  try {
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const secrets = createSecrets();
let body = inOneChunk(ANSWER_BYTES);
const vendor = shared(() => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`));
  });
  return listen(server);
});
const broker = shared(async () => {
  const issuer = `http://127.0.0.1:${vendor.port}/`;
  const vendors = vendorEntry("chopper", { authorizationEndpoint: issuer, tokenEndpoint: issuer }, secrets);
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  return startBrokerProcess({ yaml: brokerYaml({ baseUrl, secrets, issuer, vendors }) });
});

// First: the peak of a process is that of all before.
it("bar#EG-8 vendors' answers in one-byte chunks take no more memory than in one chunk", async () => {
  const refresh = async (token: string): Promise<number> => {
    const answer = await fetch(`${broker.url}/v1/token`, {
      method: "POST",
      headers: { authorization: basic("platform", secrets.platform) },
      body: new URLSearchParams({ grant_type: "refresh_token", vendor: "chopper", refresh_token: token }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const peakAfter = async (kind: string): Promise<number> => {
    const statuses = await Promise.all(Array.from({ length: answers }, (_, at) => refresh(`${kind}-${at}`)));
    expect(new Set(statuses)).toEqual(new Set([502]));
    return peakOf(broker.pid);
  };
  const control = await peakAfter("whole");
  body = byteByByte(ANSWER_BYTES);
  expect((await peakAfter("chopped")) - control).toBeLessThan(10 * MIB);
});

describe("bar#HT-1 request bodies in one-byte chunks", () => {
  const headOf = (line: string, at: number, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, `Host: 127.0.0.1:${at}`, ...headers, "Transfer-Encoding: chunked", "", ""].join("\r\n");

  it.each([
    ["POST /v1/par", FORM],
    ["POST /v1/callback", FORM],
    ["POST /register", "Content-Type: application/json"],
    ["POST /nothing", FORM],
  ])("end the connections of %s at the broker", async (line, type) => {
    const port = Number(new URL(broker.url).port);
    const grown = await growth({ port, pid: broker.pid, head: headOf(line, port, type) });
    expect(grown).toBeLessThan(40 * MIB);
    expect((await fetch(`${broker.url}/readyz`)).status).toBe(200);
  });

  it("end the connections of a server's /mcp, with a token too", async () => {
    const accounts = await startScriptedVendor({ "*": { body: { sub: "u1" } } });
    const { url } = accounts;
    const at = await freePort();
    const server: McpServer = await startMcpServer({
      OAUTH_MODE: "pre-registered",
      PORT: String(at),
      VENDOR: "own",
      VENDOR_AUTHORIZATION_URL: url,
      VENDOR_TOKEN_URL: url,
      VENDOR_USERINFO_URL: url,
      EGRESS_ALLOW_LOOPBACK: "true",
    });
    const headers = ["Authorization: Bearer vendor-token-of-u1", "Content-Type: application/json", "Accept: */*"];
    const grown = await growth({ port: at, pid: server.pid, head: headOf("POST /mcp", at, ...headers) });
    expect(grown).toBeLessThan(40 * MIB);
    await server.stop();
    await accounts.close();
  });
});
