/** Our own code at /token. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "@oauth-broker/oauth-core";
import { SERVER, VERIFIER } from "../../testing/hosted-fixture.ts";
import { RECORD_STORES } from "../../testing/record-stores.ts";
import {
  BACK,
  openStubServerFixture,
  OTHER,
  type ServerFixture,
  type StubServerFixture,
} from "../../testing/server-fixture.ts";

let fixture: StubServerFixture;
beforeAll(async () => {
  fixture = await openStubServerFixture();
});
afterAll(() => fixture.close());

const isLive = async (token: string | undefined, one: ServerFixture = fixture): Promise<boolean> =>
  (await one.authenticate(token ?? "")) !== undefined;
const REFUSED = { status: 400, body: { error: "invalid_grant" } };

describe("bar#AS-4 a code is valid once", () => {
  it.each([1, 31, 120])("rfc6749#4.1.2 and its second use, %i s later, ends what the first gave", async (seconds) => {
    const code = await fixture.codeOf();
    const { body } = await fixture.redeem(code);
    expect(await isLive(body["access_token"])).toBe(true);
    fixture.clock.advance(seconds);
    expect(await fixture.redeem(code)).toMatchObject(REFUSED);
    expect(await isLive(body["access_token"])).toBe(false);
    expect(await fixture.refresh(body["refresh_token"])).toMatchObject(REFUSED);
  });

  it("of 10 at the same time one gets tokens, and the vendor is asked once", async () => {
    const code = await fixture.codeOf();
    const before = fixture.stub.requests("/token");
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.redeem(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body["error"] === "invalid_grant")).toHaveLength(9);
    expect(fixture.stub.requests("/token") - before).toBe(1);
  });

  it.each(["sqlite", "dynamodb"])("also of 8 over two processes on one store: %s", async (kind) => {
    const stores = await RECORD_STORES[kind]?.();
    if (stores === undefined) throw new Error("no such store");
    const first = await stores.fresh(systemClock);
    const one = await openStubServerFixture({ records: () => first });
    // The same vendor, keys and table; another process.
    const two = await openStubServerFixture({
      records: (now) => stores.again(now),
      vendor: one.settings.vendor.vendor,
    });
    try {
      const code = await one.codeOf();
      const tries = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? one : two).redeem(code));
      const answers = await Promise.all(tries);
      const won = answers.filter(({ status }) => status === 200);
      expect([won.length, answers.filter(({ status }) => status === 400).length]).toEqual([1, 7]);
      expect(await two.redeem(code)).toMatchObject(REFUSED);
      expect(await isLive(won[0]?.body["access_token"], one)).toBe(false);
    } finally {
      await one.close();
      await two.close();
      await stores.close();
    }
  });

  it("but a replay with another client, redirect URI or verifier ends nothing", async () => {
    const code = await fixture.codeOf();
    const { body } = await fixture.redeem(code);
    for (const parameters of [
      { client_id: "other" },
      { client_id: "other", redirect_uri: OTHER.redirectUris[0] },
      { redirect_uri: `${BACK}/` },
      { code_verifier: "w".repeat(43) },
      { code_verifier: undefined },
      { resource: "https://other.example/mcp" },
    ]) {
      expect((await fixture.redeem(code, parameters)).status).toBe(400);
      expect(await isLive(body["access_token"])).toBe(true);
    }
  });
});

describe("bar#AS-5 a code lives a minute", () => {
  it("and has expired after 61 s", async () => {
    const [young, old] = [await fixture.codeOf(), await fixture.codeOf()];
    fixture.clock.advance(59);
    expect((await fixture.redeem(young)).status).toBe(200);
    fixture.clock.advance(2);
    expect(await fixture.redeem(old)).toMatchObject(REFUSED);
  });

  it("and no longer than the vendor's own", async () => {
    const { vendor } = fixture.settings.vendor;
    await using brief = await openStubServerFixture({ vendor: { ...vendor, authorizationCodeLifetimeSeconds: 30 } });
    const code = await brief.codeOf();
    brief.clock.advance(26);
    expect(await brief.redeem(code)).toMatchObject(REFUSED);
  });
});

describe("bar#AS-6 errors the client can correct do not spend the code", () => {
  it.each([
    ["rfc6749#4.1.3 another redirect URI", { redirect_uri: `${BACK}/x` }, "invalid_grant"],
    ["another client", { client_id: "other" }, "invalid_grant"],
    ["an unknown client", { client_id: "unknown" }, "invalid_client"],
    ["bar#AS-16 another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["bar#AS-16 a wider resource", { resource: SERVER }, "invalid_target"],
    ["bar#AS-3 no verifier", { code_verifier: undefined }, "invalid_grant"],
    ["bar#AS-3 a verifier of 42 characters", { code_verifier: VERIFIER.slice(1) }, "invalid_request"],
    [
      "bar#AS-3 the challenge as verifier",
      { code_verifier: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" },
      "invalid_grant",
    ],
    ["bar#AS-3 another verifier", { code_verifier: "w".repeat(43) }, "invalid_grant"],
  ])("%s", async (_what, parameters, error) => {
    const code = await fixture.codeOf();
    const before = fixture.stub.requests("/token");
    expect((await fixture.redeem(code, parameters)).body).toMatchObject({ error, flow_id: code.split(".")[0] });
    expect(fixture.stub.requests("/token")).toBe(before);
    expect((await fixture.redeem(code, { resource: `${SERVER}/mcp` })).status).toBe(200);
  });

  it("rfc6749#3.2 a parameter that is sent twice, and the answer names the flow of the one code", async () => {
    const code = await fixture.codeOf();
    const sent = new URLSearchParams({ grant_type: "authorization_code", client_id: "desk", code });
    for (const [name, flowId] of [
      ["client_id", code.split(".")[0]],
      ["code", undefined],
    ] as const) {
      const body = new URLSearchParams([...sent, [name, sent.get(name) ?? ""]]);
      const answer = await fixture.request("/token", { method: "POST", body });
      expect(answer.status).toBe(400);
      const { error, flow_id: named } = (await answer.json()) as Readonly<Record<string, unknown>>;
      expect([error, named]).toEqual(["invalid_request", flowId]);
    }
    expect((await fixture.redeem(code, { resource: `${SERVER}/mcp` })).status).toBe(200);
  });

  it("OAuth 2.1 §10.2: a redirect URI may be left out, also as an empty one", async () => {
    for (const redirect_uri of [undefined, ""]) {
      const code = await fixture.codeOf();
      expect((await fixture.redeem(code, { redirect_uri })).status).toBe(200);
    }
  });

  it.each([
    ["nothing", undefined],
    ["one that was never issued", `${"A".repeat(22)}.${"A".repeat(43)}`],
    ["the vendor's kind", "abc"],
  ])("a code that is %s", async (_what, code) => {
    expect((await fixture.redeem(code)).status).toBe(400);
  });

  it("a code's flow with another secret", async () => {
    const code = await fixture.codeOf();
    expect(await fixture.redeem(`${code.split(".")[0]}.${"A".repeat(43)}`)).toMatchObject(REFUSED);
    expect((await fixture.redeem(code)).status).toBe(200);
  });
});
