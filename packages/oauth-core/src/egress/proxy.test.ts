import { setImmediate } from "node:timers/promises";
import { createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { Secret } from "../protocol/secret.ts";
import { createTestAuthority, type TestCertificate } from "../testing/network/certificates.ts";
import { type ForwardProxy, type ForwardProxyOptions, startForwardProxy } from "../testing/network/forward-proxy.ts";
import { httpAnswer, type LoopbackServer } from "../testing/network/loopback-server.ts";
import { createEgress, type Egress, type EgressDeps, type EgressOptions, REAL_NETWORK } from "./index.ts";
import { closeAfterEach, start, track } from "../testing/network/test-egress.ts";
import { checkProxy } from "./proxy.ts";

const authority = createTestAuthority();
const OPTIONS: EgressOptions = { allowLoopback: false, allowCidrs: [], timeoutMs: 5_000, caPem: authority.caPem };
closeAfterEach();

const LOST = { name: "EgressError", kind: "connect", sent: false };
const REFUSED = { name: "EgressError", kind: "refused", sent: false };
const POST = { method: "POST", body: "code=canary" };

async function startVendor(
  certificate: TestCertificate = authority.issue(["vendor.example"]),
): Promise<LoopbackServer> {
  const server = createServer(certificate).on("tlsClientError", () => undefined);
  const answer = httpAnswer("tokens");
  return start((socket) => socket.write(answer), { server, connection: "secureConnection" });
}

interface Setting {
  readonly vendor: LoopbackServer;
  readonly proxy: ForwardProxy;
  readonly egress: Egress;
}

async function setUp(
  given: ForwardProxyOptions = {},
  { url, options = {}, deps = {} }: { url?: Secret; options?: Partial<EgressOptions>; deps?: Partial<EgressDeps> } = {},
): Promise<Setting> {
  const vendor = await startVendor();
  const proxy = track(await startForwardProxy(vendor.port, given));
  // The names of these tests exist nowhere: who looks one up has gone past the proxy.
  const lookup = async (): Promise<never> => Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" }));
  const network = { ...REAL_NETWORK, lookup, lookupUntrusted: lookup, jitterMs: () => 0, ...deps };
  const egress = track(createEgress({ ...OPTIONS, proxy: url ?? proxy.url, ...options }, network));
  return { vendor, proxy, egress };
}

describe("a forward proxy", () => {
  it.each<[string, ForwardProxyOptions]>([
    ["that asks nobody", {}],
    ["that asks who it is", { credentials: "broker:p@ss:w/örd" }],
    ["that speaks TLS", { certificate: authority.issue(["127.0.0.1"]) }],
  ])("bar#EG-11 %s is the way to a vendor's name, and sees no more than that", async (_what, given) => {
    const { vendor, proxy, egress } = await setUp(given);
    const answer = await egress.fetch("https://vendor.example/token?x=canary", POST);
    expect(await answer.text()).toBe("tokens");
    expect(proxy.asked).toEqual(["vendor.example:443"]);
    expect(vendor.received[0]).toMatch(/^POST \/token\?x=canary HTTP\/1\.1\r\nhost: vendor\.example\r\n/);
    expect(vendor.received[0]).not.toMatch(/proxy-/i);
  });

  it("keeps its tunnels like any connection", async () => {
    const { proxy, egress } = await setUp();
    await egress.fetch("https://vendor.example/");
    // A connection rests for one turn before it is used again.
    await setImmediate();
    await egress.fetch("https://vendor.example/");
    expect(proxy.asked).toHaveLength(1);
  });

  it("is asked for the port that the operator wrote down", async () => {
    const operatorUrls = ["https://vendor.example:8443"];
    const { proxy, egress } = await setUp({}, { options: { operatorUrls } });
    await egress.fetch("https://vendor.example:8443/");
    expect(proxy.asked).toEqual(["vendor.example:8443"]);
  });

  it.each<[string, ForwardProxyOptions, string]>([
    ["wants other credentials", { credentials: "another:one" }, "answered 407"],
    ["cannot reach it", { instead: "HTTP/1.1 503 Service Unavailable\r\n\r\n" }, "answered 503"],
    ["forbids it", { instead: "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n" }, "answered 403"],
    ["leads elsewhere", { instead: "HTTP/1.1 302 Found\r\nlocation: https://evil.example/\r\n\r\n" }, "answered 302"],
    ["is no proxy", { instead: "SSH-2.0-OpenSSH_9.9\r\n\r\n" }, "did not answer with HTTP"],
    ["speaks for the vendor", { instead: "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}" }, "sent more than"],
    ["never ends", { instead: `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}` }, "answered without end"],
  ])("bar#VR-5 that %s is a failed connection: nothing was sent, and the log says why", async (_what, given, why) => {
    const url =
      "credentials" in given ? (port: number) => new Secret(`http://canary:canary@127.0.0.1:${port}`) : undefined;
    const { vendor, proxy, egress } = await setUp(given);
    const other = url === undefined ? egress : track(createEgress({ ...OPTIONS, proxy: url(proxy.port) }));
    const error = await other.fetch("https://vendor.example/token", POST).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(LOST);
    expect(error).toHaveProperty("detail", expect.stringContaining(`proxy 127.0.0.1:${proxy.port}: ${why}`));
    expect(JSON.stringify([error, String(error)])).not.toContain("canary");
    expect(vendor.received).toEqual([]);
  });

  it("bar#VR-5 that hangs, or is not there, is a failed connection", async () => {
    const hanging = await setUp({ instead: "" }, { deps: { connectTimeoutMs: 200 } });
    await expect(hanging.egress.fetch("https://vendor.example/token", POST)).rejects.toMatchObject(LOST);
    expect(hanging.proxy.asked).toEqual(["vendor.example:443"]);
    const gone = track(createEgress({ ...OPTIONS, proxy: new Secret("http://127.0.0.1:1") }));
    await expect(gone.fetch("https://vendor.example/token", POST)).rejects.toMatchObject({
      ...LOST,
      detail: expect.stringContaining("ECONNREFUSED") as unknown,
    });
  });

  it("bar#EG-10 that leads to another server: its certificate is not the vendor's", async () => {
    const vendor = await startVendor(authority.issue(["evil.example"]));
    const proxy = track(await startForwardProxy(vendor.port));
    const egress = track(createEgress({ ...OPTIONS, proxy: proxy.url }));
    await expect(egress.fetch("https://vendor.example/token", POST)).rejects.toMatchObject({
      ...LOST,
      detail: expect.stringContaining("ERR_TLS_CERT_ALTNAME_INVALID") as unknown,
    });
    expect(vendor.received.join("")).toBe("");
  });

  it("bar#EG-10 that speaks TLS under a certificate of nobody's gets no credentials", async () => {
    const certificate = createTestAuthority("Another").issue(["127.0.0.1"]);
    const { proxy, egress } = await setUp({ certificate, credentials: "broker:secret" });
    await expect(egress.fetch("https://vendor.example/", POST)).rejects.toMatchObject(LOST);
    expect(proxy.asked).toEqual([]);
  });

  it.each(["https://8.8.8.8/", "https://[2606:4700::1111]/", "https://127.0.0.1/", "https://10.0.0.1/"])(
    "bar#EG-11 is not asked for an address: %s",
    async (url) => {
      const { proxy, egress } = await setUp();
      await expect(egress.fetch(url, POST)).rejects.toMatchObject(REFUSED);
      expect(proxy.asked).toEqual([]);
    },
  );

  it("bar#EG-11 is not asked for what a request names: nobody could check where it leads", async () => {
    const { proxy, egress } = await setUp();
    for (const url of ["https://vendor.example/", "https://attacker.example/", "https://8.8.8.8/"]) {
      await expect(egress.fetchUntrusted(url, POST)).rejects.toMatchObject(REFUSED);
    }
    expect(proxy.asked).toEqual([]);
  });

  it("bar#EG-3 is the way to a tenant's name, from which no network of the operator is reached", async () => {
    const options = { allowLoopback: true, allowCidrs: ["10.20.0.0/16"], refusedHosts: ["broker.example"] };
    const { proxy, egress } = await setUp({}, { options });
    expect(await (await egress.fetchTenant?.("https://vendor.example/token", POST))?.text()).toBe("tokens");
    expect(proxy.asked).toEqual(["vendor.example:443"]);
    for (const url of [
      "https://vault.corp.internal/",
      "https://10.20.0.1/",
      "http://127.0.0.1/",
      "https://broker.example/",
    ]) {
      await expect(egress.fetchTenant?.(url, POST)).rejects.toMatchObject(REFUSED);
    }
    expect(proxy.asked).toHaveLength(1);
  });

  it("is passed by for this machine and for the operator's own networks", async () => {
    const local = await start((socket) => socket.write(httpAnswer("local")));
    const { proxy, egress } = await setUp({}, { options: { allowLoopback: true, allowCidrs: ["10.20.0.0/16"] } });
    expect(await (await egress.fetch(local.origin)).text()).toBe("local");
    await expect(egress.fetch("https://idp.corp.internal/")).rejects.toMatchObject({
      ...LOST,
      detail: expect.stringContaining("ENOTFOUND") as unknown,
    });
    expect(proxy.asked).toEqual([]);
  });

  it("given wrongly is an error at start that does not repeat it", () => {
    for (const text of ["canary", "ftp://canary:1", "http://canary:secret@", "http://p:3128/path", "http://%ff@p:1"]) {
      expect(checkProxy(text)).toMatch(/^must be an http or https URL/);
      expect(() => createEgress({ ...OPTIONS, proxy: new Secret(text) })).toThrow(/^the proxy is not/);
    }
    expect(checkProxy("http://user:pass@proxy.example:3128/")).toBeUndefined();
  });
});
