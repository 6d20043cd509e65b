import { connect, createServer, getCACertificates, type TlsOptions } from "node:tls";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestAuthority, type TestCertificate } from "../testing/network/certificates.ts";
import { httpAnswer, type LoopbackServer } from "../testing/network/loopback-server.ts";
import { withDefaultRoots } from "./trust-anchors.ts";
import { closeAfterEach, open, start } from "../testing/network/test-egress.ts";
import { createEgress, type EgressOptions } from "./index.ts";

const authority = createTestAuthority();
const OPTIONS: EgressOptions = { allowLoopback: true, allowCidrs: [], timeoutMs: 5_000, caPem: authority.caPem };
const UNSENT = { name: "EgressError", kind: "connect", sent: false };
closeAfterEach();
afterEach(() => vi.unstubAllEnvs());

async function startTls(certificate: TestCertificate, options: TlsOptions = {}): Promise<LoopbackServer> {
  const server = createServer({ ...certificate, ...options });
  server.on("tlsClientError", () => undefined);
  return start((socket) => socket.write(httpAnswer("secret")), { server, connection: "secureConnection" });
}

/** Posts to the server by the given host; the answer, or what was thrown. */
async function post(
  server: LoopbackServer,
  options: Partial<EgressOptions> = {},
  host = "localhost",
): Promise<unknown> {
  const egress = open({ ...OPTIONS, ...options });
  const call = egress.fetch(`https://${host}:${server.port}/`, { method: "POST", body: "code=x" });
  return call.then(async (response) => response.text()).catch((error: unknown) => error);
}

describe("TLS", () => {
  it.each(["localhost", "127.0.0.1"])("bar#EG-10 believes the operator's CA for %s", async (host) => {
    const server = await startTls(authority.issue([host]));
    expect(await post(server, {}, host)).toBe("secret");
  });

  it("bar#EG-10 refuses a CA that is not configured", async () => {
    const server = await startTls(authority.issue(["localhost"]));
    const egress = open({ timeoutMs: 5_000 });
    await expect(egress.fetch(`https://localhost:${server.port}/`)).rejects.toMatchObject(UNSENT);
    expect(server.received).toEqual([]);
  });

  it.each([
    ["another authority", createTestAuthority().issue(["localhost"])],
    ["another name", authority.issue(["other.example"])],
    ["a name that only ends alike", authority.issue(["evil-localhost", "localhost.other.example"])],
    ["an expired certificate", authority.issue(["localhost"], "20210101000000Z")],
  ])("bar#EG-10 refuses %s, with no byte of the request written", async (_what, certificate) => {
    const server = await startTls(certificate);
    expect(await post(server)).toMatchObject(UNSENT);
    expect(server.received.join("")).toBe("");
  });

  it("bar#EG-10 refuses a chain that brings an authority of its own", async () => {
    const own = createTestAuthority();
    const { key, cert } = own.issue(["localhost"]);
    expect(await post(await startTls({ key, cert: cert + own.caPem }))).toMatchObject(UNSENT);
  });

  it("bar#EG-10 has no switch: the environment cannot turn verification off", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const server = await startTls(createTestAuthority().issue(["localhost"]));
    // The twin: Node itself obeys the variable.
    const socket = connect({ host: "127.0.0.1", port: server.port, servername: "localhost" });
    await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    expect(socket.authorized).toBe(false);
    socket.destroy();
    expect(await post(server)).toMatchObject(UNSENT);
  });

  it("bar#EG-10 refuses TLS 1.1", async () => {
    const server = await startTls(authority.issue(["localhost"]), {
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    expect(await post(server)).toMatchObject(UNSENT);
  });

  it("bar#EG-10 checks the name of the URL, not the one another caller asked for before", async () => {
    const server = await startTls(authority.issue(["localhost"]));
    expect(await post(server)).toBe("secret");
    expect(await post(server, {}, "127.0.0.1")).toMatchObject(UNSENT);
  });

  it("bar#EG-10 adds the operator's CA to the default roots instead of replacing them", () => {
    expect(withDefaultRoots(authority.caPem)).toEqual([...getCACertificates("default"), authority.caPem]);
  });

  it.each([
    "",
    "no certificate",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    authority.issue(["localhost"]).key,
  ])("throws at start when the CA file holds no certificate", (caPem) => {
    expect(() => createEgress({ ...OPTIONS, caPem })).toThrow(Error);
  });
});
