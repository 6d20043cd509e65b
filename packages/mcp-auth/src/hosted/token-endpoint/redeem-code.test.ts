/** A code at /token with either callback: the vendor's own, or the server's. */
import { systemClock } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Closing, closing } from "../../testing/closing.ts";
import {
  CALLBACK,
  type FixtureOptions,
  type HostedFixture,
  openHostedFixture,
  openOpenIdFixture,
  type OpenIdFixture,
  type OpenIdVendorOptions,
  SERVER,
  startStubVendor,
  VERIFIER,
} from "../../testing/hosted-fixture.ts";
import { RECORD_STORES } from "../../testing/record-stores.ts";
import {
  BACK,
  openOpenIdServerFixture,
  openStubServerFixture,
  type ServerFixture,
  type StubServerFixture,
} from "../../testing/server-fixture.ts";
import { linkKey } from "../links/link.ts";

type Codes = Pick<ServerFixture, "codeOf" | "redeem">;
type Real = Pick<OpenIdFixture, keyof HostedFixture | "provider" | keyof Closing> & Codes;
type Stubbed = Pick<StubServerFixture, keyof HostedFixture | "stub" | keyof Closing> & Codes;

const ofPlatform = async (options?: OpenIdVendorOptions): Promise<Real> => {
  const fixture = await openOpenIdFixture(options);
  return {
    ...fixture,
    codeOf: async (parameters) => (await fixture.consent(parameters))["code"] ?? "",
    redeem: (code, parameters) => fixture.token({ code: code ?? undefined, ...parameters }),
  };
};
const stubbedOfPlatform = async (options: Partial<FixtureOptions> = {}): Promise<Stubbed> => {
  const { stub, ...usual } = await startStubVendor();
  const fixture = openHostedFixture({ ...usual, ...options });
  let codes = 0;
  const opened: Omit<Stubbed, keyof Closing> = {
    ...fixture,
    stub,
    codeOf: async () => `code-${(codes += 1)}`,
    redeem: (code, parameters) => fixture.token({ code: code ?? undefined, ...parameters }),
  };
  return closing(opened, async () => {
    await fixture.close();
    await stub.close();
  });
};

const REFUSED = { status: 400, body: { error: "invalid_grant" } };

describe.each([
  { whose: "the platform's callback", back: CALLBACK, open: ofPlatform, openStubbed: stubbedOfPlatform },
  { whose: "its own callback", back: BACK, open: openOpenIdServerFixture, openStubbed: openStubServerFixture },
])("a server with $whose", ({ back, open, openStubbed }) => {
  const real = shared<Real>(open);
  const stubbed = shared<Stubbed>(openStubbed);
  afterEach(() => {
    real.down.clear();
    real.provider.faults.clear();
  });
  const isLive = async (token: string | undefined, one: HostedFixture = stubbed): Promise<boolean> =>
    (await one.authenticate(token ?? "")) !== undefined;
  const asked = (): number => real.provider.requests().filter(({ path }) => path === "/token").length;

  describe("bar#AS-4 takes a code once", () => {
    it.each([1, 31, 120])("rfc6749#4.1.2 and its second use, %i s later, ends what the first gave", async (seconds) => {
      const code = await stubbed.codeOf();
      const { body } = await stubbed.redeem(code);
      expect(await isLive(body["access_token"])).toBe(true);
      stubbed.clock.advance(seconds);
      expect(await stubbed.redeem(code)).toMatchObject(REFUSED);
      expect(await isLive(body["access_token"])).toBe(false);
      expect(await stubbed.refresh(body["refresh_token"])).toMatchObject(REFUSED);
    });

    it("of 10 at the same time one gets tokens, and the vendor is asked once", async () => {
      const code = await stubbed.codeOf();
      const before = stubbed.stub.requests("/token");
      const answers = await Promise.all(Array.from({ length: 10 }, () => stubbed.redeem(code)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ body }) => body["error"] === "invalid_grant")).toHaveLength(9);
      expect(stubbed.stub.requests("/token") - before).toBe(1);
    });

    it.each(["sqlite", "dynamodb"])("also of 8 over two processes on one store: %s", async (kind) => {
      const stores = (await RECORD_STORES[kind]?.()) ?? expect.unreachable("no such store");
      const first = await stores.fresh(systemClock);
      const one = await openStubbed({ records: () => first });
      const { vendor } = one.settings.vendor;
      const two = await openStubbed({ records: (now) => stores.again(now), vendor });
      try {
        const code = await one.codeOf();
        const tries = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? one : two).redeem(code));
        const answers = await Promise.all(tries);
        const won = answers.filter(({ status }) => status === 200);
        expect([won.length, answers.filter(({ status }) => status === 400).length]).toEqual([1, 7]);
        expect(await two.redeem(code)).toMatchObject(REFUSED);
        expect(await isLive(won[0]?.body["access_token"], one)).toBe(false);
        expect(await two.refresh(won[0]?.body["refresh_token"])).toMatchObject(REFUSED);
      } finally {
        await one.close();
        await two.close();
        await stores.close();
      }
    });

    it("but a replay with another client, redirect URI, verifier or resource ends nothing", async () => {
      const code = await stubbed.codeOf();
      const { body } = await stubbed.redeem(code);
      for (const parameters of [
        { client_id: "other" },
        { client_id: "other", redirect_uri: "https://other.example/back" },
        { redirect_uri: `${back}/` },
        // To this vendor, which checks no verifier, it is another code; a real one refuses it.
        { code_verifier: "w".repeat(43) },
        { code_verifier: undefined },
        { resource: "https://other.example/mcp" },
      ]) {
        await stubbed.redeem(code, parameters);
        expect(await isLive(body["access_token"]), JSON.stringify(parameters)).toBe(true);
      }
    });
  });

  describe("does not spend a code over what the client can correct", () => {
    let code: string;
    beforeAll(async () => {
      code = await real.codeOf();
    });

    it.each([
      ["bar#AS-6 rfc6749#4.1.3 another redirect URI", { redirect_uri: `${back}/x` }, "invalid_grant"],
      ["bar#AS-6 an unknown client", { client_id: "unknown" }, "invalid_client"],
      ["bar#AS-16 bar#AS-6 another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
      ["bar#AS-16 bar#AS-6 a resource with a fragment", { resource: `${SERVER}/mcp#x` }, "invalid_target"],
      ["bar#AS-16 bar#AS-6 a resource in capitals", { resource: `${SERVER}/MCP` }, "invalid_target"],
      ["bar#AS-16 bar#AS-6 a resource with a slash more", { resource: `${SERVER}/mcp/` }, "invalid_target"],
      ["bar#AS-16 bar#AS-6 a resource with its port", { resource: `${SERVER}:443/mcp` }, "invalid_target"],
      ["bar#AS-16 bar#AS-6 a wider resource", { resource: SERVER }, "invalid_target"],
      ["bar#AS-3 no verifier", { code_verifier: undefined }, "invalid_grant"],
      ["bar#AS-3 a verifier of 42 characters", { code_verifier: VERIFIER.slice(1) }, "invalid_request"],
      ["bar#AS-3 a letter outside ASCII", { code_verifier: `${VERIFIER.slice(0, -1)}é` }, "invalid_request"],
    ])("%s", async (_what, parameters, error) => {
      const before = asked();
      expect((await real.redeem(code, parameters)).body["error"]).toBe(error);
      expect(asked()).toBe(before);
    });

    it.each([
      ["another verifier", "w".repeat(43)],
      ["the challenge as verifier", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
    ])("bar#AS-3 %s", async (_what, code_verifier) => {
      expect(await real.redeem(code, { code_verifier })).toMatchObject(REFUSED);
    });

    it("bar#AS-3 bar#AS-6 bar#AS-16 and the same code works afterwards", async () => {
      expect((await real.redeem(code, { resource: `${SERVER}/mcp` })).status).toBe(200);
    });
  });

  it.each([undefined, ""])("OAuth 2.1 §10.2: no redirect URI is none, and PKCE is in its place: %j", async (none) => {
    expect((await real.redeem(await real.codeOf(), { redirect_uri: none })).status).toBe(200);
  });

  it("rfc3986#6.2.2.1 bar#AS-16 the resource with scheme and host in capitals is ours", async () => {
    const resource = `${SERVER.toUpperCase()}/mcp`;
    expect((await real.redeem(await real.codeOf({ resource }), { resource })).status).toBe(200);
  });

  describe("in an outage", () => {
    it.each([
      ["cuts the connection", { kind: "drop" }],
      ["says that it cannot", { kind: "answer", status: 503 }],
    ] as const)(
      "bar#VR-5 while the vendor %s answers 503, and the same code works afterwards",
      async (_what, fault) => {
        const code = await real.codeOf();
        real.provider.faults.next("/token", fault);
        const { status, body, headers } = await real.redeem(code);
        expect([status, body["error"], body["retry"]]).toEqual([503, "temporarily_unavailable", undefined]);
        expect(headers.get("retry-after")).toMatch(/^\d+$/);
        expect((await real.redeem(code)).status).toBe(200);
      },
    );

    it("without the records sends nothing to the vendor, and the same code works afterwards", async () => {
      await real.redeem(await real.codeOf());
      const code = await real.codeOf();
      const before = asked();
      real.down.add("records");
      const { status, body } = await real.redeem(code);
      expect([status, body["retry"], asked()]).toEqual([503, undefined, before]);
      real.down.clear();
      expect((await real.redeem(code)).status).toBe(200);
    });

    it("ends tokens at the vendor that cannot be kept, and the flow begins again", async () => {
      const code = await real.codeOf();
      real.down.add("tokens");
      const { status, body } = await real.redeem(code);
      expect([status, body["retry"]]).toEqual([503, "restart"]);
      const ended = { path: "/token/revocation", status: 200 };
      await vi.waitFor(() => expect(real.provider.requests().at(-1)).toMatchObject(ended));
      real.down.clear();
      expect(await real.redeem(code)).toMatchObject(REFUSED);
    });
  });

  it("revokes the tokens of a vendor that does not identify the user", async () => {
    await using mute = await open({ entry: { identity: { from: "id_token", members: ["oid"] } } });
    const { status, body } = await mute.redeem(await mute.codeOf());
    expect([status, body["error"]]).toEqual([502, "vendor_response_invalid"]);
    await vi.waitFor(() => expect(mute.provider.requests().at(-1)).toMatchObject({ path: "/token/revocation" }));
    expect(await mute.tokens.get(linkKey("user", mute))).toBeUndefined();
  });
});
