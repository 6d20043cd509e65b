/**
 * Attacker: a vendor, or an attacker who controls what it publishes and answers. Goal: our secret
 * for that vendor, forwarded to another host, or our requests into the network behind the
 * broker. Defence: no answer is followed to another place (exchange), and neither metadata nor a
 * name leads to an address that is not public (isPublicAddress). Only loopback is connected to: the
 * network of the second part records where a socket would have been opened.
 */
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { type FakeVendor, type ScriptedVendor, startScriptedVendor } from "@oauth-broker/simulators";
import { Pool } from "undici";
import * as exchangeModule from "../../packages/oauth-core/src/egress/exchange.ts";
import * as addressRangesModule from "../../packages/oauth-core/src/egress/address-ranges.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { vendorAt, VENDOR_CLIENT } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import { createBackend, createBrowser } from "./support/actors.ts";
import { IAT, register } from "./support/registration-fixture.ts";
import { createFixture, idOf } from "./support/fixture.ts";
import { fixtureOf, SAMPLE } from "./support/guarded-network.ts";

/** A host on loopback that redirects everything, or answers tokens to every caller. */
async function startHost(status: number, location?: string): Promise<ScriptedVendor> {
  const headers = location === undefined ? {} : { location };
  const body = { access_token: "token-of-evil", token_type: "Bearer" };
  const host = await startScriptedVendor({ "*": { status, headers, body } });
  onTestFinished(host.close);
  return host;
}

describe("bar#EG-6 bar#EG-12 a vendor that sends our request elsewhere", () => {
  /** A flow up to its tokens, at a vendor whose token endpoint redirects. */
  async function redeemAtRedirecting(status: number) {
    const elsewhere = await startHost(200);
    const vendor = await startHost(status, `${elsewhere.url}/take`);
    const page = vendorAt(vendor.url, { sendsIss: false });
    const fixture = await createFixture({
      vendors: [page],
      entries: {
        honest: {
          name: "Honest",
          authorization_endpoint: `${vendor.url}/authorize`,
          token_endpoint: `${vendor.url}/token`,
          registration_endpoint: `${vendor.url}/register`,
          initial_access_token: IAT,
        },
      },
      config: { egress: { allow_loopback: true } },
      egress: createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: 5_000 }),
    });
    const backend = createBackend(fixture);
    const redeemed = await backend.connect(createBrowser(fixture, "victim"));
    const refreshed = await backend.refresh({ refreshToken: "refresh-of-victim" }, { vendor: "honest" });
    const registered = await register(fixture, { vendor: "honest" });
    return { vendor, elsewhere, redeemed, refreshed, registered };
  }

  // egress/index.test.ts has the other statuses.
  it.each([302, 307])(
    "by %i is not followed, with a code, a refresh token or an initial access token",
    async (status) => {
      const { vendor, elsewhere, redeemed, refreshed, registered } = await redeemAtRedirecting(status);
      expect(vendor.received.map(({ path }) => path)).toEqual(["/token", "/token", "/register"]);
      expect(elsewhere.received).toEqual([]);
      const { status: given, body } = registered;
      for (const answer of [redeemed, refreshed, { status: given, body: JSON.parse(body) as object }]) {
        expect(answer).toMatchObject({ status: 502, body: { error: "vendor_response_invalid" } });
        expect(JSON.stringify(answer.body)).not.toMatch(/127\.0\.0\.1|take/);
      }
    },
  );

  it("bar#EG-12 twin: with an exchange that follows, the other host has secret, code and token", async () => {
    without(exchangeModule, ({ exchange }) => ({
      exchange: async (pool, request, limits) => {
        const answer = await exchange(pool, request, limits);
        const location = answer.headers["location"];
        if (answer.status !== 307 || typeof location !== "string") return answer;
        // As most HTTP clients do by default.
        const { origin, pathname } = new URL(location);
        const target = new Pool(origin);
        try {
          // The first answer has given its room back.
          const held = { ...limits.held, grow: () => true };
          return await exchange(target, { ...request, path: pathname }, { ...limits, held });
        } finally {
          await target.close();
        }
      },
    }));
    const { elsewhere, redeemed } = await redeemAtRedirecting(307);
    expect(redeemed.status).toBe(200);
    const [{ headers, body } = { headers: {}, body: "" }, , registration] = elsewhere.received;
    expect(Buffer.from((headers.authorization ?? "").slice("Basic ".length), "base64").toString()).toBe(
      `${VENDOR_CLIENT.clientId}:${VENDOR_CLIENT.clientSecret}`,
    );
    expect(Object.fromEntries(new URLSearchParams(body))).toMatchObject({
      code: expect.stringMatching(/^code-of-victim-/),
      code_verifier: expect.stringMatching(/^.{43}$/),
    });
    expect(registration?.headers.authorization).toBe(`Bearer ${IAT}`);
  });
});

const NOT_FOR_BROWSERS = "javascript:alert(1)// data:text/html,x file:///etc/passwd vbscript:x about:blank".split(" ");

describe("bar#DI-2 metadata that points behind the broker", () => {
  /**
   * Runs the flow as far as it goes: pushed, at the vendor, back, redeemed.
   * @returns the status it ended with
   */
  async function runFlow({ fixture }: Pick<Awaited<ReturnType<typeof fixtureOf>>, "fixture">, vendor: FakeVendor) {
    const backend = createBackend(fixture);
    const pushed = await backend.par({ vendor: idOf(vendor.origin) });
    if (pushed.status !== 201) return pushed;
    return backend.connect(createBrowser(fixture, "victim"), { vendor: idOf(vendor.origin) });
  }

  it("is refused as token endpoint, at the latest before a socket is opened", async () => {
    const harness = await fixtureOf(
      SAMPLE.map(({ url }) => url),
      "token_endpoint",
    );
    const wrong: string[] = [];
    for (const [index, { label, stoppedBy }] of SAMPLE.entries()) {
      const { status, body } = await runFlow(harness, harness.vendors[index]!);
      const expected = stoppedBy === "answer" ? ["temporarily_unavailable"] : ["vendor_response_invalid"];
      if (!expected.includes(String(body["error"]))) wrong.push(`${label}: ${status} ${String(body["error"])}`);
    }
    expect(wrong).toEqual([]);
    expect(harness.network.sockets).toEqual([]);
    expect(new Set(SAMPLE.map(({ stoppedBy }) => stoppedBy))).toEqual(new Set(["syntax", "address", "name", "answer"]));
  });

  const others = "authorization_endpoint revocation_endpoint jwks_uri userinfo_endpoint registration_endpoint".split(
    " ",
  );
  it.each(others)("is refused as %s, before any request and any redirect", async (endpoint) => {
    const listed = SAMPLE.filter(({ stoppedBy, url }) => stoppedBy !== "answer" && url !== "");
    const urls = [...listed.map(({ url }) => url), ...NOT_FOR_BROWSERS];
    const { fixture, network, vendors } = await fixtureOf(urls, endpoint);
    const backend = createBackend(fixture);
    const taken: string[] = [];
    for (const [index, { origin }] of vendors.entries()) {
      const { status, body } = await backend.par({ vendor: idOf(origin) });
      if (status !== 502) taken.push(urls[index] ?? "");
      expect(JSON.stringify(body)).not.toContain(urls[index]);
    }
    expect(taken).toEqual([]);
    expect(network.sockets).toEqual([]);
    expect(fixture.exchanges.filter(({ headers }) => headers.has("location"))).toEqual([]);
  });

  it("bar#DI-2 twin: without isPublicAddress code and secret go to the metadata service", async () => {
    const hosts = ["169.254.169.254", "10.0.0.1", "127.0.0.1", "[fd00:ec2::254]"];
    without(addressRangesModule, () => ({ isPublicAddress: () => true }));
    const urls = hosts.map((host) => `https://${host}/token`);
    const harness = await fixtureOf(urls, "token_endpoint");
    for (const vendor of harness.vendors) await runFlow(harness, vendor);
    expect(new Set(harness.network.sockets)).toEqual(new Set(hosts.map((host) => host.replaceAll(/[[\]]/g, ""))));
  });
});
