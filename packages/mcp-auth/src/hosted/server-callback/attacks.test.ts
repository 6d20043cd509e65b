/** What strangers and malicious clients try at the pages. Codes and /token: redeem-own-code.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redirectUriNearMisses } from "../../../../oauth-core/src/testing/redirect-uri-corpus.ts";
import { SERVER, VERIFIER } from "../../testing/hosted-bench.ts";
import {
  BACK,
  expectPage,
  location,
  NATIVE,
  openStubServerBench,
  OTHER,
  STATE,
  type StubServerBench,
} from "../../testing/server-bench.ts";

let bench: StubServerBench;
beforeAll(async () => {
  bench = await openStubServerBench();
});
afterAll(() => bench.close());

const vendorVisits = (): number => bench.stub.counts()["/authorize"] ?? 0;
const told = (answer: Response) => Object.fromEntries(location(answer).searchParams);

describe("bar#AS-1 a page, and nobody is sent anywhere", () => {
  it("for every redirect URI that is nearly registered", async () => {
    const browser = bench.browser();
    const misses = redirectUriNearMisses(BACK);
    expect(misses.length).toBeGreaterThan(200);
    for (const { uri, name } of misses) {
      // Also where something else is wrong, which would otherwise be told by redirect.
      for (const response_type of ["code", "token"]) {
        const answer = await browser.authorize({ redirect_uri: uri, response_type });
        expect([answer.status, answer.headers.get("location")], name).toEqual([400, null]);
      }
    }
  });

  it.each(["http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", "http://[::1]:8080/cb"])(
    "rfc8252#7.3 but a program on the device may have any port: %s",
    async (redirect_uri) => {
      const { fields } = await bench.browser().ask({ client_id: "native", redirect_uri });
      expect(fields["redirect_uri"]).toBe(redirect_uri);
    },
  );

  it.each([
    "http://localhost:5001/cb",
    "http://127.0.0.1:65536/cb",
    "http://127.0.0.1:080/cb",
    "http://127.0.0.2:80/cb",
    "http://127.0.0.1:80/cb/",
    "http://127.0.0.1:80/cb?x=1",
    "https://127.0.0.1:80/cb",
    "http://127.0.0.1:80@evil.example/cb",
    "http://127.0.0.1.evil.example:80/cb",
    "http://[::2]:7777/cb",
    "http://127.1:80/cb",
  ])("and nothing but the port: %s", async (redirect_uri) => {
    await expectPage(await bench.browser().authorize({ client_id: "native", redirect_uri }));
  });

  it.each([
    ["no client", { client_id: undefined }],
    ["an unknown client", { client_id: "desk2" }],
    ["a client that was never registered", { client_id: `dcr_${"A".repeat(22)}` }],
    ["a URL where no documents are taken", { client_id: "https://client.example/id" }],
    ["no redirect URI", { redirect_uri: undefined }],
    ["another client's redirect URI", { redirect_uri: OTHER.redirectUris[0] }],
    ["another client", { client_id: "other" }],
  ])("for %s", async (_what, wishes) => {
    await expectPage(await bench.browser().authorize(wishes));
  });

  it("for a parameter that is there twice", async () => {
    const query = "client_id=desk&client_id=desk";
    await expectPage(await bench.browser().get(`/authorize?${query}`));
  });
});

describe("what a known client asks wrongly is told to it, with state and iss", () => {
  it.each([
    ["bar#AS-2 no challenge", { code_challenge: undefined }, "invalid_request"],
    ["bar#AS-2 plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["bar#AS-2 no method", { code_challenge_method: undefined }, "invalid_request"],
    ["bar#AS-2 an unknown method", { code_challenge_method: "S512" }, "invalid_request"],
    ["bar#AS-2 a verifier's length, 42", { code_challenge: "a".repeat(42) }, "invalid_request"],
    ["bar#AS-16 another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["bar#AS-16 a fragment", { resource: `${SERVER}/mcp#x` }, "invalid_target"],
    ["bar#AS-16 a wider resource", { resource: SERVER }, "invalid_target"],
    ["bar#AS-19 a request object", { request: "e30.e30." }, "request_not_supported"],
    ["bar#AS-19 a request_uri", { request_uri: "https://evil.example/r" }, "request_uri_not_supported"],
    ["bar#AS-19 the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["bar#AS-19 a hybrid flow", { response_type: "code id_token" }, "unsupported_response_type"],
    ["bar#AS-19 fragment", { response_mode: "fragment" }, "invalid_request"],
    ["bar#AS-19 form_post", { response_mode: "form_post" }, "invalid_request"],
    ["bar#AS-19 web_message", { response_mode: "web_message" }, "invalid_request"],
    ["no response_type", { response_type: undefined }, "invalid_request"],
    ["rfc6749#3.3 more scope than there is", { scope: "read admin" }, "invalid_scope"],
    ["rfc6749#3.3 a scope that is none", { scope: 'a"b' }, "invalid_scope"],
  ])("bar#AS-18 %s", async (_what, wishes, error) => {
    const answer = await bench.browser().authorize(wishes);
    expect([answer.status, location(answer).href.startsWith(`${BACK}?`)]).toEqual([303, true]);
    expect(told(answer)).toMatchObject({ error, state: STATE, iss: SERVER });
    expect(location(answer).searchParams.getAll("iss")).toHaveLength(1);
  });

  it("the resource there is, and response_mode=query, are fine", async () => {
    const { fields } = await bench.browser().ask({ resource: `${SERVER}/mcp`, response_mode: "query" });
    expect(fields).toMatchObject({ resource: `${SERVER}/mcp`, response_mode: "query" });
  });
});

describe("bar#AS-7 the page's form is taken from the browser that saw the page", () => {
  it("not without its cookie, not with another's, not without or with another token", async () => {
    const victim = bench.browser();
    const attacker = bench.browser();
    const [theirs, own] = [await victim.ask(), await attacker.ask()];
    const before = vendorVisits();
    const tries = [
      bench.browser().decide(theirs),
      attacker.decide(theirs),
      victim.decide(own),
      victim.decide({ ...theirs, fields: { ...theirs.fields, csrf: "" } }),
      victim.decide({ ...theirs, fields: { ...theirs.fields, csrf: `${theirs.fields["csrf"]}x` } }),
    ];
    for (const answer of await Promise.all(tries)) {
      expect(await expectPage(answer)).toContain("csrf");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(vendorVisits()).toBe(before);
    expect((await victim.decide(theirs)).status).toBe(303);
  });

  it("a No is taken from nobody else either", async () => {
    const page = await bench.browser().ask();
    await expectPage(await bench.browser().decide(page, "deny"));
  });

  it("a planted cookie that is not one of ours is no cookie", async () => {
    const answer = await bench.request("/authorize?client_id=desk", {
      headers: { cookie: "__Host-flow-consent=x; y" },
    });
    await expectPage(answer);
    const { fields } = await bench.browser().ask();
    const body = new URLSearchParams({ ...fields, decision: "approve" });
    const cookie = `flow-consent=${"A".repeat(43)}`;
    await expectPage(await bench.request("/authorize", { method: "POST", body, headers: { cookie } }));
  });

  it("bar#AS-20 JSON is no form", async () => {
    const answer = await bench.request("/authorize", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(answer.status).toBe(415);
  });

  it("what a link brings of the form's own fields does not become part of it", async () => {
    const browser = bench.browser();
    const page = await browser.ask({ decision: "approve", csrf: "x", constructor: "y", extra: "z" });
    expect(Object.keys(page.fields).toSorted()).toEqual([
      "client_id",
      "code_challenge",
      "code_challenge_method",
      "csrf",
      "redirect_uri",
      "response_type",
      "state",
    ]);
    expect(told(await browser.decide(page, "deny"))).toMatchObject({ error: "access_denied" });
  });

  it("a request of 64 parameters has a form that can be answered", async () => {
    const browser = bench.browser();
    const many = Object.fromEntries(Array.from({ length: 58 }, (_, index) => [`x${index}`, "1"]));
    expect((await browser.decide(await browser.ask(many))).status).toBe(303);
  });
});

describe("bar#AS-9 what was agreed to for one is of no use to another", () => {
  it("the token of one client's page, with the request of another", async () => {
    const browser = bench.browser();
    const { fields } = await browser.ask();
    const answer = await browser.post("/authorize", {
      ...fields,
      client_id: "other",
      redirect_uri: OTHER.redirectUris[0],
      decision: "approve",
    });
    await expectPage(answer);
  });

  it.each([
    ["another way back", { client_id: "native", redirect_uri: "http://127.0.0.1:6666/cb" }],
    ["another challenge", { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN" }],
    ["another state", { state: "another" }],
    ["more scope", { scope: "read write" }],
    ["a resource", { resource: `${SERVER}/mcp` }],
  ])("nor with %s", async (_what, changed) => {
    const browser = bench.browser();
    const asked = { client_id: "native", redirect_uri: NATIVE.redirectUris[0], scope: "read" };
    const { fields } = await browser.ask(asked);
    await expectPage(await browser.post("/authorize", { ...fields, ...changed, decision: "approve" }));
  });

  it("who agreed is asked again the next time", async () => {
    const browser = bench.browser();
    await browser.connect();
    expect((await browser.authorize()).status).toBe(200);
  });
});

describe("bar#AS-8 an answer of the vendor in another browser", () => {
  it("is a page, without code and without harm to the flow", async () => {
    const attacker = bench.browser();
    const callback = await attacker.consent(await attacker.leave());
    const path = callback.pathname + callback.search;
    const victim = bench.browser();
    // The victim has been here before, and is on the way somewhere as well.
    await victim.leave();
    const answer = await victim.get(path);
    expect(await expectPage(answer)).toContain("browser_mismatch");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await attacker.finish(callback)).searchParams.has("code")).toBe(true);
  });

  it("nor does the cookie of another flow, or of the page, help", async () => {
    const browser = bench.browser();
    const one = await browser.leave();
    const callback = await browser.consent(one);
    const flowId = one.searchParams.get("state")?.split(".")[0] ?? "";
    await browser.leave();
    const others = (browser.jar.header(new URL(SERVER)) ?? "").split("; ").filter((pair) => !pair.includes(flowId));
    expect(others).toHaveLength(2);
    const forged = others.map((pair) => `__Host-flow-${flowId}=${pair.split("=")[1]}`);
    for (const cookie of [...forged, others.join("; ")]) {
      const answer = await bench.request(callback.pathname + callback.search, { headers: { cookie } });
      expect(await expectPage(answer)).toContain("browser_mismatch");
    }
  });

  it.each(["", "x", `${"A".repeat(22)}.${"B".repeat(43)}`])("a state that is not ours: %j", async (state) => {
    await expectPage(await bench.browser().get(`/callback?code=c&state=${state}`));
  });

  it("a state of ours with another secret", async () => {
    const browser = bench.browser();
    const callback = await browser.consent(await browser.leave());
    const [flowId = ""] = (callback.searchParams.get("state") ?? "").split(".");
    callback.searchParams.set("state", `${flowId}.${"A".repeat(43)}`);
    expect(await expectPage(await browser.get(callback.pathname + callback.search))).toContain("state_unknown");
  });
});

it("bar#AS-1 a client the operator took away in the middle gets neither code nor error", async () => {
  const { records } = bench;
  const narrow = await openStubServerBench({ records: () => records, callback: { clients: [OTHER] } });
  const moved = await openStubServerBench({
    records: () => records,
    callback: { clients: [{ clientId: "desk", clientName: "Desk", redirectUris: ["https://desk.example/new"] }] },
  });
  try {
    const browser = bench.browser();
    const callback = await browser.consent(await browser.leave());
    const path = callback.pathname + callback.search;
    const cookie = browser.jar.header(callback) ?? "";
    for (const later of [narrow, moved]) await expectPage(await later.request(path, { headers: { cookie } }));
    expect((await browser.finish(callback)).searchParams.has("code")).toBe(true);
  } finally {
    await narrow.close();
    await moved.close();
  }
});

it("what waits in the records opens nothing: neither state, cookie, code nor the vendor's code is in them", async () => {
  const kept: string[] = [];
  const watched = await openStubServerBench({
    records: (now) => {
      const store = bench.records;
      void now;
      return {
        ...store,
        get: (...args) => store.get(...args),
        create: (record) => {
          kept.push(JSON.stringify(record));
          return store.create(record);
        },
        advance: (key, from, patch) => {
          kept.push(JSON.stringify(patch));
          return store.advance(key, from, patch);
        },
      };
    },
  });
  try {
    const browser = watched.browser();
    const vendor = await browser.leave();
    const callback = await browser.consent(vendor);
    const cookies = browser.jar.header(new URL(SERVER)) ?? "";
    const back = await browser.finish(callback);
    const { status, body } = await watched.redeem(back.searchParams.get("code") ?? "");
    expect(status).toBe(200);
    expect(kept.join("").length).toBeGreaterThan(1000);
    const secrets = [
      callback.searchParams.get("state"),
      callback.searchParams.get("code"),
      back.searchParams.get("code"),
      body["access_token"],
      body["refresh_token"],
      VERIFIER,
      vendor.searchParams.get("code_challenge"),
      ...cookies.split("; ").map((pair) => pair.split("=")[1]),
    ];
    for (const secret of secrets) expect(kept.join("")).not.toContain(secret);
  } finally {
    await watched.close();
  }
});
