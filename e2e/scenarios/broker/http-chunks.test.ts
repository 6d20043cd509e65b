/**
 * Rows HT-1 and EG-8 of the bar: bodies and vendors' answers in one-byte chunks take no more memory
 * than the same bytes in one chunk, which go first.
 */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { brokerYaml, createSecrets } from "../../support/broker/configuration.ts";
import { FORM, type HttpBroker, startHttpBroker } from "../../support/broker/http.ts";
import { type BrokerProcess, startBrokerProcess } from "../../support/broker/process.ts";
import { byteByByte, inOneChunk, peakOf, sendChunks } from "../../support/chunk-load.ts";
import { freePort } from "../../support/free-port.ts";
import { type McpServer, startMcpServer } from "../../support/mcp/process.ts";

const MIB = 1024 * 1024;
const { sockets, bytes, answers } = volume({
  test: { sockets: 8, bytes: 20_000, answers: 4 },
  soak: { sockets: 40, bytes: 60_000, answers: 16 },
});
const ANSWER_BYTES = 200_000;

interface Target {
  readonly port: number;
  readonly pid: number;
  readonly head: string;
}

/** @returns by how much the peak of one-byte chunks is above that of one chunk */
async function growth(target: Target): Promise<number> {
  const load = { ...target, sockets, probe: "/healthz" };
  const control = await sendChunks({ ...load, body: inOneChunk(bytes), untilEnded: false });
  const attack = await sendChunks({ ...load, body: byteByByte(bytes), untilEnded: true });
  expect([control.ended, attack.ended]).toEqual([0, sockets]);
  return attack.peakBytes - control.peakBytes;
}

describe("bar#HT-1 request bodies in one-byte chunks", () => {
  describe("at the broker", () => {
    let broker: HttpBroker;
    beforeAll(async () => {
      broker = await startHttpBroker("dist");
    });
    afterAll(() => broker.close());

    it.each([
      ["POST /v1/par", FORM],
      ["POST /v1/callback", FORM],
      ["POST /register", "Content-Type: application/json"],
      ["POST /nothing", FORM],
    ])("end the connections of %s", async (line, type) => {
      const head = broker.head(`${line} HTTP/1.1`, type, "Transfer-Encoding: chunked");
      const grown = await growth({ port: broker.port, pid: broker.process.pid, head });
      expect(grown).toBeLessThan(40 * MIB);
      expect(await broker.health()).toBe(200);
    });
  });

  it("end the connections of a server's /mcp, with a token too", async () => {
    const vendor = await startScriptedVendor({ "*": { body: { sub: "u1" } } });
    const { url } = vendor;
    const port = await freePort();
    const server: McpServer = await startMcpServer({
      OAUTH_MODE: "pre-registered",
      PORT: String(port),
      VENDOR: "own",
      VENDOR_AUTHORIZATION_URL: url,
      VENDOR_TOKEN_URL: url,
      VENDOR_USERINFO_URL: url,
      EGRESS_ALLOW_LOOPBACK: "true",
    });
    const headers = ["Authorization: Bearer vendor-token-of-u1", "Content-Type: application/json", "Accept: */*"];
    const head = ["POST /mcp HTTP/1.1", `Host: 127.0.0.1:${port}`, ...headers, "Transfer-Encoding: chunked", "", ""];
    const grown = await growth({ port, pid: server.pid, head: head.join("\r\n") });
    expect(grown).toBeLessThan(40 * MIB);
    await server.stop();
    await vendor.close();
  });
});

describe("bar#EG-8 vendors' answers in one-byte chunks", () => {
  let broker: BrokerProcess | undefined;
  afterEach(async () => broker?.stop());

  it("take no more memory than in one chunk", async () => {
    let body = inOneChunk(ANSWER_BYTES);
    const vendor = createServer().listen(0, "127.0.0.1");
    vendor.on("connection", (socket) => {
      socket.on("error", () => undefined);
      socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`));
    });
    await once(vendor, "listening");
    const secrets = createSecrets();
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const endpoint = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/`;
    const yaml = brokerYaml({
      baseUrl,
      secrets,
      issuer: endpoint,
      vendors: `
  chopper:
    name: Chopper
    authorization_endpoint: ${endpoint}
    token_endpoint: ${endpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`,
    });
    broker = await startBrokerProcess({ yaml });
    const { pid } = broker;
    const refresh = async (token: string): Promise<number> => {
      const answer = await fetch(`${baseUrl}/v1/token`, {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from(`platform:${secrets.platform}`).toString("base64")}` },
        body: new URLSearchParams({ grant_type: "refresh_token", vendor: "chopper", refresh_token: token }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const peakAfter = async (kind: string): Promise<number> => {
      const statuses = await Promise.all(Array.from({ length: answers }, (_, at) => refresh(`${kind}-${at}`)));
      expect(new Set(statuses)).toEqual(new Set([502]));
      return peakOf(pid);
    };
    const control = await peakAfter("whole");
    body = byteByByte(ANSWER_BYTES);
    expect((await peakAfter("chopped")) - control).toBeLessThan(10 * MIB);
    vendor.close();
  });
});
