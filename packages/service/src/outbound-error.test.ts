/**
 * The operator's log says why a vendor could not be reached; the answer to the caller never does.
 */
import { createServer as createPlainServer } from "node:net";
import { createServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { createEgress, REAL_NETWORK } from "@oauth-broker/oauth-core/egress";
import { OAuthError, systemTimer } from "@oauth-broker/oauth-core";
import {
  createSelfSigned,
  createTestAuthority,
  type TestCertificate,
} from "../../oauth-core/src/testing/network/certificates.ts";
import { type LoopbackServer, startLoopbackServer } from "../../oauth-core/src/testing/network/loopback-server.ts";
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { defineVendor, type VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { createLog, outboundErrorOf } from "./log.ts";
import { mounted } from "./testing/mounted.ts";
import { watchedVendorClient } from "./tracing/vendor-calls.ts";

const authority = createTestAuthority();
const NOW = 1_700_000_000;
const credentials: VendorCredentials = { id: "1", source: "shared", clientId: "canary-client" };
const SECRETS = { code: "canary-code", codeVerifier: "canary-verifier".repeat(4) };

/** Redeems a code in a request to a service; its lines, and its answer. */
async function redeemAt(tokenEndpoint: string) {
  const options = { allowLoopback: true, allowCidrs: [], timeoutMs: 5_000, caPem: authority.caPem };
  const egress = createEgress(options, {
    ...REAL_NETWORK,
    lookup: async () => Promise.reject(Object.assign(new Error("canary"), { code: "ENOTFOUND" })),
  });
  onTestFinished(() => egress.close());
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const { fetch } = egress;
  const vendorClient = createVendorClient({ fetch, timer: systemTimer, now: () => NOW, allowLoopback: true });
  const client = watchedVendorClient(vendorClient, { log });
  const entry = { id: "v", name: "V", authorizationEndpoint: "https://v.example/a", tokenEndpoint };
  const vendor = await client.resolve(defineVendor(entry));
  const handle = async (): Promise<never> => {
    const request = { ...SECRETS, redirectUri: "https://b.example/cb", scope: [] };
    await client.redeemCode(vendor, credentials, request);
    throw new Error("the vendor answered");
  };
  const { app } = mounted([{ method: "POST", path: "/v1/token", surface: "api", handle }], { log });
  const answer = await app.request("/v1/token", { method: "POST" });
  return {
    answer: { status: answer.status, body: await answer.text() },
    lines: lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
  };
}

async function startTls(certificate: TestCertificate): Promise<LoopbackServer> {
  const server = createServer(certificate).on("tlsClientError", () => undefined);
  const started = await startLoopbackServer(() => undefined, { server, connection: "secureConnection" });
  onTestFinished(() => started.close());
  return started;
}

/** @param atOnce without waiting for a request that can be read */
async function startPlain(bytes: string, atOnce = false): Promise<string> {
  const server = createPlainServer((socket) => atOnce && socket.end(bytes));
  const started = await startLoopbackServer((socket) => socket.end(bytes), { server });
  onTestFinished(() => started.close());
  return `127.0.0.1:${started.port}`;
}

const tlsAt = async (certificate: TestCertificate): Promise<string> =>
  `https://localhost:${(await startTls(certificate)).port}`;
const plainAt = async (bytes: string): Promise<string> => `http://${await startPlain(bytes)}`;

it.each<[what: string, code: string, status: number, start: () => Promise<string>]>([
  ["signed by itself", "DEPTH_ZERO_SELF_SIGNED_CERT", 503, () => tlsAt(createSelfSigned(["localhost"]))],
  [
    "of an unknown authority",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    503,
    () => tlsAt(createTestAuthority("Another").issue(["localhost"])),
  ],
  ["expired", "CERT_HAS_EXPIRED", 503, () => tlsAt(authority.issue(["localhost"], "20210101000000Z"))],
  ["of another name", "ERR_TLS_CERT_ALTNAME_INVALID", 503, () => tlsAt(authority.issue(["other.example"]))],
  [
    "https on an http port",
    "ERR_SSL_",
    503,
    async () => `https://${await startPlain("HTTP/1.1 400 Bad\r\n\r\n", true)}`,
  ],
  ["a port that is closed", "ECONNREFUSED", 503, closedPort],
  ["a name that does not exist", "ENOTFOUND", 503, async () => "https://does-not-exist.example"],
  ["half an answer", "UND_ERR_SOCKET", 503, () => plainAt("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}")],
  ["no HTTP", "HPE_INVALID_CONSTANT", 502, () => plainAt("SSH-2.0-OpenSSH_9.9\r\n\r\n")],
  ["a coding", "content coding compress", 502, () => plainAt("HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\n\r\nx")],
])("bar#EG-9 the log has host and cause, the answer neither: %s (h10)", async (_what, code, status, start) => {
  const origin = await start();
  const { answer, lines } = await redeemAt(`${origin}/token?canary=1`);
  expect(lines.map(({ event }) => event)).toEqual(["vendor_call", "request"]);
  for (const { outbound_error: cause } of lines) {
    expect(String(cause).startsWith(`${origin}: `)).toBe(true);
    expect(cause).toContain(code);
  }
  expect(answer.status).toBe(status);
  expect(answer.body).not.toMatch(new RegExp(`${code}|localhost|127\\.0\\.0\\.1|example`));
  expect(JSON.stringify(lines)).not.toContain("canary");
});

async function closedPort(): Promise<string> {
  const server = await startLoopbackServer(() => undefined);
  await server.close();
  return server.origin;
}

it("is found below wrapping errors, also with causes that refer to themselves", () => {
  const egress = Object.assign(new Error("x"), { name: "EgressError", kind: "connect", sent: false, detail: "v: E" });
  const wrapped = new OAuthError("temporarily_unavailable", "x", {
    cause: new OAuthError("temporarily_unavailable", "x", { cause: egress, detail: "another" }),
  });
  expect(outboundErrorOf(wrapped)).toBe("v: E");
  const round: Error = new Error("x");
  round.cause = round;
  expect([outboundErrorOf(round), outboundErrorOf("x"), outboundErrorOf(undefined)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
