/** Our own code at /token. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../clock.ts";
import { SERVER, VERIFIER } from "../../testing/hosted-bench.ts";
import { RECORD_STORES } from "../../testing/record-stores.ts";
import {
  BACK,
  openOpenIdServerBench,
  type OpenIdServerBench,
  openStubServerBench,
  OTHER,
  type ServerBench,
  type StubServerBench,
} from "../../testing/server-bench.ts";

let bench: StubServerBench;
let real: OpenIdServerBench;
beforeAll(async () => {
  bench = await openStubServerBench();
  real = await openOpenIdServerBench();
});
afterAll(async () => {
  await bench.close();
  await real.close();
});
afterEach(() => {
  for (const one of [bench, real]) one.down.clear();
  real.provider.faults.clear();
});

const codeOf = async (one: ServerBench = bench): Promise<string> =>
  (await one.browser().connect()).searchParams.get("code") ?? "";
const isLive = async (token: string | undefined, one: ServerBench = bench): Promise<boolean> =>
  (await one.gate.identify(token ?? "")) !== undefined;
const REFUSED = { status: 400, body: { error: "invalid_grant" } };

describe("bar#AS-4 a code is good once", () => {
  it.each([1, 31, 120])("rfc6749#4.1.2 and its second use, %i s later, ends what the first gave", async (seconds) => {
    const code = await codeOf();
    const { body } = await bench.redeem(code);
    expect(await isLive(body["access_token"])).toBe(true);
    bench.clock.advance(seconds);
    expect(await bench.redeem(code)).toMatchObject(REFUSED);
    expect(await isLive(body["access_token"])).toBe(false);
    const refresh = { grant_type: "refresh_token", client_id: "desk", refresh_token: body["refresh_token"] };
    expect(await bench.token(refresh)).toMatchObject(REFUSED);
  });

  it("of 50 at the same time one gets tokens, and the vendor is asked once", async () => {
    const code = await codeOf();
    const before = bench.stub.counts()["/token"] ?? 0;
    const answers = await Promise.all(Array.from({ length: 50 }, () => bench.redeem(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body["error"] === "invalid_grant")).toHaveLength(49);
    expect((bench.stub.counts()["/token"] ?? 0) - before).toBe(1);
  });

  it.each(["sqlite", "dynamodb"])("also of 50 over two processes on one store: %s", async (kind) => {
    const stores = await RECORD_STORES[kind]?.();
    if (stores === undefined) throw new Error("no such store");
    const first = await stores.fresh(systemClock);
    const one = await openStubServerBench({ records: () => first });
    // The same vendor, keys and table; another process.
    const two = await openStubServerBench({
      records: (now) => stores.again(now),
      vendor: one.settings.vendor.vendor,
    });
    try {
      const code = await codeOf(one);
      const tries = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : two).redeem(code));
      const answers = await Promise.all(tries);
      const won = answers.filter(({ status }) => status === 200);
      expect([won.length, answers.filter(({ status }) => status === 400).length]).toEqual([1, 49]);
      expect(await two.redeem(code)).toMatchObject(REFUSED);
      expect(await isLive(won[0]?.body["access_token"], one)).toBe(false);
    } finally {
      await one.close();
      await two.close();
      await stores.close();
    }
  });

  it("but a replay by another client, with another redirect URI or verifier, or without one, ends nothing", async () => {
    const code = await codeOf();
    const { body } = await bench.redeem(code);
    for (const wishes of [
      { client_id: "other" },
      { client_id: "other", redirect_uri: OTHER.redirectUris[0] },
      { redirect_uri: `${BACK}/` },
      { code_verifier: "w".repeat(43) },
      { code_verifier: undefined },
      { resource: "https://other.example/mcp" },
    ]) {
      expect((await bench.redeem(code, wishes)).status).toBe(400);
      expect(await isLive(body["access_token"])).toBe(true);
    }
  });
});

describe("bar#AS-5 a code lives a minute", () => {
  it("and is too old after 61 s", async () => {
    const [young, old] = [await codeOf(), await codeOf()];
    bench.clock.advance(59);
    expect((await bench.redeem(young)).status).toBe(200);
    bench.clock.advance(2);
    expect(await bench.redeem(old)).toMatchObject(REFUSED);
  });

  it("and no longer than the vendor's own", async () => {
    const { vendor } = bench.settings.vendor;
    const brief = await openStubServerBench({ vendor: { ...vendor, authorizationCodeLifetimeSeconds: 30 } });
    try {
      const code = await codeOf(brief);
      brief.clock.advance(26);
      expect(await brief.redeem(code)).toMatchObject(REFUSED);
    } finally {
      await brief.close();
    }
  });
});

describe("bar#AS-6 what the client can mend costs it no code", () => {
  it.each([
    ["rfc6749#4.1.3 another redirect URI", { redirect_uri: `${BACK}/x` }, "invalid_grant"],
    ["rfc6749#4.1.3 no redirect URI", { redirect_uri: undefined }, "invalid_request"],
    ["another client", { client_id: "other" }, "invalid_grant"],
    ["an unknown client", { client_id: "nobody" }, "invalid_client"],
    ["bar#AS-16 another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["bar#AS-16 a wider resource", { resource: SERVER }, "invalid_target"],
    ["bar#AS-3 no verifier", { code_verifier: undefined }, "invalid_request"],
    ["bar#AS-3 a verifier of 42 characters", { code_verifier: VERIFIER.slice(1) }, "invalid_request"],
    [
      "bar#AS-3 the challenge as verifier",
      { code_verifier: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" },
      "invalid_grant",
    ],
    ["bar#AS-3 another verifier", { code_verifier: "w".repeat(43) }, "invalid_grant"],
  ])("%s", async (_what, wishes, error) => {
    const code = await codeOf();
    const before = bench.stub.counts()["/token"] ?? 0;
    expect((await bench.redeem(code, wishes)).body["error"]).toBe(error);
    expect(bench.stub.counts()["/token"] ?? 0).toBe(before);
    expect((await bench.redeem(code, { resource: `${SERVER}/mcp` })).status).toBe(200);
  });

  it.each([
    ["nothing", undefined],
    ["one that was never issued", `${"A".repeat(22)}.${"A".repeat(43)}`],
    ["the vendor's kind", "abc"],
  ])("a code that is %s", async (_what, code) => {
    expect((await bench.redeem(code)).status).toBe(400);
  });

  it("a code's flow with another secret", async () => {
    const code = await codeOf();
    expect(await bench.redeem(`${code.split(".")[0]}.${"A".repeat(43)}`)).toMatchObject(REFUSED);
    expect((await bench.redeem(code)).status).toBe(200);
  });
});

describe("outages around a code", () => {
  it.each([
    ["cuts the connection", { kind: "drop" }],
    ["says that it cannot", { kind: "answer", status: 503 }],
  ] as const)(
    "bar#VR-5 while the vendor %s the answer is 503, and the same code works afterwards",
    async (_what, fault) => {
      const code = await codeOf(real);
      real.provider.faults.next("/token", fault);
      const answer = await real.redeem(code);
      expect([answer.status, answer.body["error"]]).toEqual([503, "temporarily_unavailable"]);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      expect((await real.redeem(code)).status).toBe(200);
    },
  );

  it("but not for longer than it would have lived", async () => {
    const code = await codeOf(real);
    real.provider.faults.next("/token", { kind: "drop" });
    await real.redeem(code);
    real.clock.advance(61);
    expect(await real.redeem(code)).toMatchObject(REFUSED);
  });

  it("a vendor that says the code is dead is believed, and no session begins", async () => {
    const code = await codeOf(real);
    real.provider.faults.next("/token", {
      kind: "answer",
      status: 400,
      headers: { "content-type": "application/json" },
      body: '{"error":"invalid_grant"}',
    });
    expect(await real.redeem(code)).toMatchObject(REFUSED);
  });

  it("without the records nothing is sent to the vendor, and the same code works afterwards", async () => {
    await real.redeem(await codeOf(real));
    const code = await codeOf(real);
    const asked = real.provider.requests().length;
    real.down.add("records");
    expect((await real.redeem(code)).status).toBe(503);
    expect(real.provider.requests()).toHaveLength(asked);
    real.down.clear();
    expect((await real.redeem(code)).status).toBe(200);
  });

  it("tokens that cannot be kept are ended at the vendor, and the flow begins again", async () => {
    const code = await codeOf(real);
    real.down.add("tokens");
    const answer = await real.redeem(code);
    expect([answer.status, answer.body["retry"]]).toEqual([503, "restart"]);
    real.down.clear();
    expect(await real.redeem(code)).toMatchObject(REFUSED);
  });

  it("without records the page is shown, the decision told as a redirect, and the callback a page to reload", async () => {
    const browser = real.browser();
    const callback = await browser.consent(await browser.leave());
    const path = callback.pathname + callback.search;
    real.down.add("records");
    const page = await browser.ask();
    const told = await browser.decide(page);
    expect(new URL(told.headers.get("location") ?? "").searchParams.get("error")).toBe("temporarily_unavailable");
    const answer = await browser.get(path);
    expect([answer.status, answer.headers.get("location")]).toEqual([503, null]);
    real.down.clear();
    expect((await browser.finish(callback)).searchParams.has("code")).toBe(true);
  });

  it("without the key service nobody leaves for the vendor, and a code waits", async () => {
    let isDown = false;
    const sealed = await openOpenIdServerBench({
      serverKey: () => ({
        derive: async (purpose) => {
          if (isDown)
            throw new OAuthError("temporarily_unavailable", "The key service does not answer", {
              reason: "kms_unavailable",
            });
          return Buffer.from(purpose.padEnd(32).slice(0, 32));
        },
      }),
    });
    try {
      const browser = sealed.browser();
      const back = await browser.connect();
      isDown = true;
      const told = await browser.decide(await browser.ask());
      expect(new URL(told.headers.get("location") ?? "").searchParams.get("error")).toBe("temporarily_unavailable");
      const code = back.searchParams.get("code") ?? "";
      expect((await sealed.redeem(code)).status).toBe(503);
      isDown = false;
      expect((await sealed.redeem(code)).status).toBe(200);
    } finally {
      await sealed.close();
    }
  });
});

describe("restarts and sister containers", () => {
  it("every leg may be another process's", async () => {
    const one = await openOpenIdServerBench();
    const two = await openOpenIdServerBench({
      records: () => one.records,
      serverKey: () => one.serverKey,
      vendor: one.settings.vendor.vendor,
    });
    try {
      const page = await one.browser().ask();
      expect(page.fields["csrf"]).toMatch(/^[\w-]{43}$/);
      const browser = one.browser();
      const callback = await browser.consent(await browser.leave());
      const cookie = browser.jar.header(callback) ?? "";
      const answer = await two.request(callback.pathname + callback.search, { headers: { cookie } });
      const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
      const { status, body } = await one.redeem(code);
      expect(status).toBe(200);
      expect(await two.sessions.identify(body["access_token"] ?? "")).toMatchObject({ user: "user" });
    } finally {
      await one.close();
      await two.close();
    }
  });
});

describe("a vendor without PKCE", () => {
  it("bar#VR-3 is tied to the flow by the nonce of its ID token", async () => {
    const plain = await openOpenIdServerBench({ entry: { pkce: "none" }, provider: { pkceRequired: false } });
    try {
      const browser = plain.browser();
      const vendor = await browser.leave();
      expect([vendor.searchParams.has("nonce"), vendor.searchParams.has("code_challenge")]).toEqual([true, false]);
      const callback = await browser.consent(vendor);
      // The code of another flow, brought into this one: its nonce is another.
      const other = plain.browser();
      const stolen = await other.consent(await other.leave());
      const code = callback.searchParams.get("code") ?? "";
      callback.searchParams.set("code", stolen.searchParams.get("code") ?? "");
      const back = await browser.finish(callback);
      const injected = await plain.redeem(back.searchParams.get("code") ?? "");
      expect([injected.status, injected.body["error"]]).toEqual([502, "vendor_response_invalid"]);
      expect(code).not.toBe("");
      expect((await plain.redeem((await plain.browser().connect()).searchParams.get("code") ?? "")).status).toBe(200);
    } finally {
      await plain.close();
    }
  });

  it("bar#VR-3 with PKCE #2 the vendor itself refuses a code of another flow", async () => {
    const [one, other] = [real.browser(), real.browser()];
    const callback = await one.consent(await one.leave());
    const stolen = await other.consent(await other.leave());
    callback.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    const back = await one.finish(callback);
    expect(await real.redeem(back.searchParams.get("code") ?? "")).toMatchObject(REFUSED);
  });
});
